"""Security headers: one statement for all pages, and what each adds."""

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient

from mailqueue.web.forms import is_same_origin
from mailqueue.web.security_headers import (
    OWN_FILES,
    SecurityHeaders,
    content_policy,
    framed,
    security_headers,
)

HOST = {"host": "127.0.0.1:8025"}
OWN = {"origin": "http://127.0.0.1:8025"}
FOREIGN = {"origin": "https://evil.example.com"}
URL = "https://mail.example.com"


def test_nothing_is_loaded_but_what_a_page_adds() -> None:
    assert content_policy({}) == (
        "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    policy = content_policy({"style-src": "'nonce-x'", "form-action": "'none'"})
    assert "style-src 'nonce-x'" in policy
    assert "form-action 'none'" in policy
    assert "'unsafe" not in content_policy(OWN_FILES)


def test_a_page_may_say_more_and_else() -> None:
    found = security_headers({}, Referrer_Policy="no-referrer", Vary="Accept-Language")

    assert found["Referrer-Policy"] == "no-referrer"
    assert found["Vary"] == "Accept-Language"
    assert found["Cache-Control"] == "no-store"
    assert found["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(("scheme", "has_hsts"), [("http", False), ("https", True)])
def test_every_response_has_them_unless_it_sets_them_itself(scheme: str, has_hsts: bool) -> None:
    answer = PlainTextResponse("x", headers={"Cache-Control": "no-cache"})
    client = TestClient(SecurityHeaders(answer), base_url=f"{scheme}://example.com")

    headers = client.get("/").headers

    assert headers["cache-control"] == "no-cache"
    assert headers["content-security-policy"] == content_policy(OWN_FILES)
    assert headers["x-frame-options"] == "DENY"
    assert ("strict-transport-security" in headers) is has_hsts


def test_the_html_of_an_email_runs_and_fetches_nothing() -> None:
    answer: Response = framed("<script>alert(1)</script>\ud800")

    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-popups ")
    assert "allow-scripts" not in policy
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy
    assert b'<base target="_blank">' in bytes(answer.body)


@pytest.mark.parametrize(
    ("headers", "url", "strict", "lenient"),
    [
        ({}, None, False, True),
        (OWN, None, True, True),
        (FOREIGN, None, False, False),
        ({"origin": "null"}, None, False, False),
        ({"sec-fetch-site": "same-origin"}, None, True, True),
        ({"sec-fetch-site": "cross-site"}, None, False, False),
        ({"sec-fetch-site": "same-site"} | OWN, None, False, False),
        ({"sec-fetch-site": "none"} | OWN, None, False, False),
        ({"sec-fetch-site": "same-origin"} | FOREIGN, None, False, True),
        (OWN, URL, False, False),
        ({"origin": URL}, URL, True, True),
        ({"origin": "http://mail.example.com"}, URL, False, False),
    ],
)
def test_a_form_comes_from_a_page_of_ours(
    headers: dict[str, str], url: str | None, strict: bool, lenient: bool
) -> None:
    found = Headers(HOST | headers)

    assert is_same_origin(found, url) is strict
    assert is_same_origin(found, url, is_strict=False) is lenient
