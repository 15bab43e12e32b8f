"""Invalid keys, rates and sizes raise errors of the `sendgrid` library."""

import json
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from python_http_client.exceptions import (
    BadRequestsError,
    ForbiddenError,
    MethodNotAllowedError,
    NotFoundError,
    PayloadTooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
    UnsupportedMediaTypeError,
)
from sendgrid import SendGridAPIClient

from tests.clients.sendgrid.mails import hello, mails, raw, refused
from tests.clients.serving import PDF, Served
from tests.clients.test_docs import after, real, shown


@pytest.fixture
def client(site: Served) -> SendGridAPIClient:
    return SendGridAPIClient(site.keys.live, host=site.url)


HI = {"to": [{"email": "a@example.com"}], "subject": "x"}


def test_keys_have_the_errors_of_the_library(site: Served) -> None:
    (unknown,) = refused(SendGridAPIClient("SG.unknown", host=site.url), hello(), UnauthorizedError)
    (reads,) = refused(SendGridAPIClient(site.keys.reads, host=site.url), hello(), ForbiddenError)
    subuser = SendGridAPIClient(site.keys.live, host=site.url, impersonate_subuser="ann")

    assert unknown == {
        "message": "The provided authorization grant is invalid, expired, or revoked",
        "field": None,
        "help": None,
    }
    assert "email:send" in reads["message"]
    assert "on-behalf-of" in refused(subuser, hello(), ForbiddenError)[0]["message"]


def test_a_sender_that_is_not_the_projects_is_forbidden(
    site: Served, client: SendGridAPIClient
) -> None:
    allowed = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING id"
    site.rows(allowed, ["example.com"])
    try:
        (error,) = refused(client, raw(**{"from": {"email": "a@example.org"}}), ForbiddenError)
        assert client.send(raw()).status_code == 202
    finally:
        site.rows(allowed, None)

    assert error["field"] == "from"
    assert error["message"].startswith("The from address does not match a verified Sender Identity")


def test_a_test_key_sends_to_the_trap(site: Served) -> None:
    response = SendGridAPIClient(site.keys.test, host=site.url).send(hello())

    assert site.email(UUID(response.headers["X-Message-Id"]))["sender"] == "(test)"


def test_a_client_that_never_tries_again_loses_nothing_at_the_usual_rate(site: Served) -> None:
    """Ten threads of it; what is above the rate waits for its turn."""
    client = SendGridAPIClient(site.keys.slow, host=site.url)

    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda _: client.send(hello()).status_code, range(14)))

    assert answers == [202] * 14


@pytest.mark.usefixtures("no_request_waits")
def test_what_comes_too_fast_is_told_when_to_come_again(site: Served) -> None:
    client = SendGridAPIClient(site.keys.slow, host=site.url)

    def many() -> None:
        for _ in range(1_000):
            client.send(hello())

    with pytest.raises(TooManyRequestsError) as caught:
        many()

    headers = caught.value.headers
    assert int(headers["X-RateLimit-Reset"]) >= int(time.time())
    assert (headers["X-RateLimit-Remaining"], int(headers["Retry-After"]) > 0) == ("0", True)


def test_what_is_no_such_request_is_refused_in_its_words(client: SendGridAPIClient) -> None:
    with pytest.raises(NotFoundError) as missing:
        client.client.mail.drafts.post()
    with pytest.raises(NotFoundError) as other:
        client.client.ips.get()
    with pytest.raises(MethodNotAllowedError):
        client.client.mail.send.get()
    with pytest.raises(BadRequestsError) as broken:
        client.client.mail.send.post(request_body="{")
    with pytest.raises(UnsupportedMediaTypeError):
        client.client.mail.send.post(
            request_body="--x", request_headers={"Content-Type": "multipart/form-data"}
        )
    for caught in (missing, other, broken):
        assert caught.value.to_dict["errors"][0]["field"] is None


def test_a_body_too_large_is_told_by_its_own_error(client: SendGridAPIClient) -> None:
    large = raw(content=[{"type": "text/plain", "value": "x" * (30 * 1024 * 1024)}])

    with pytest.raises(PayloadTooLargeError):
        client.client.mail.send.post(request_body=large)


def test_values_that_would_fill_the_memory_are_refused(client: SendGridAPIClient) -> None:
    grown = raw(
        personalizations=[
            HI | {"to": [{"email": f"p{n}@example.com"}], "substitutions": {"a": "x" * 9_000}}
            for n in range(10)
        ],
        content=[{"type": "text/plain", "value": "a" * 1_000_000}],
    )

    (error,) = refused(client, grown, BadRequestsError)

    assert (error["field"], "too large" in error["message"]) == ("content", True)


def test_an_idempotency_key_makes_it_happen_once(site: Served, client: SendGridAPIClient) -> None:
    tag = uuid4().hex
    body = raw(
        personalizations=[
            {"to": [{"email": f"{n}-{tag}@example.com"}], "subject": "x"} for n in range(2)
        ]
    )
    headers = {"Idempotency-Key": tag}

    first, again = (
        client.client.mail.send.post(request_body=body, request_headers=headers) for _ in range(2)
    )

    assert first.headers["X-Message-Id"] == again.headers["X-Message-Id"]
    assert len(mails(site, f"%-{tag}@example.com")) == 2
    with pytest.raises(BadRequestsError):
        client.client.mail.send.post(
            request_body=body | {"categories": ["other"]}, request_headers=headers
        )


@pytest.fixture
def anymail(site: Served) -> Iterator[Any]:
    """Django's backend of anymail for SendGrid, by URL."""
    import django
    from django.conf import settings
    from django.core import mail

    if not settings.configured:
        settings.configure(INSTALLED_APPS=["anymail"], ANYMAIL={}, USE_TZ=True)
        django.setup()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anymail tells that it no longer tests this backend
        yield mail.get_connection(
            "anymail.backends.sendgrid.EmailBackend",
            api_key=site.keys.live,
            api_url=f"{site.url}/v3/",
            merge_field_format="-{}-",
        )


def test_anymails_backend_sends(site: Served, anymail: Any) -> None:
    from anymail.exceptions import AnymailRequestsAPIError
    from anymail.message import AnymailMessage

    tag = uuid4().hex[:8]
    to = [f"ann-{tag}@example.com", f"bob-{tag}@example.com"]
    message = AnymailMessage(
        "Hi -name-", "Hello -name-", "shop@example.com", to, connection=anymail
    )
    message.attach_alternative("<b>-name-</b>", "text/html")
    message.attach("bill.pdf", PDF, "application/pdf")
    message.merge_data = {to[0]: {"name": "Ann"}, to[1]: {"name": "Bob"}}
    message.merge_metadata = {to[0]: {"order": 81}}
    message.metadata = {"shop": "x"}
    message.tags = ["news"]

    assert message.send() == 1

    ann, bob = mails(site, f"%-{tag}@example.com")
    assert (ann["subject"], bob["text"]) == ("Hi Ann", "Hello Bob")
    assert ann["custom_data"]["custom_args"]["order"] == "81"
    assert bob["tags"] == ["news"]
    assert message.anymail_status.status == {"queued"}
    message.headers = {"To": "x"}
    message.extra_headers = {"X-Ok": "1", "Received": "no"}
    with pytest.raises(AnymailRequestsAPIError) as caught:
        message.send()
    assert json.loads(caught.value.response.text)["errors"][0]["field"] == "headers.Received"


def test_python_on_the_page_sends(site: Served) -> None:
    site.add_template("order-confirmation", subject="Your order", html="<p>{{ product }}</p>")
    before = site.count()
    text = "\n".join(after(each) for each in shown("sendgrid", "diff", "python"))

    exec(compile(real(site, text), "sendgrid.md", "exec"), {})

    assert site.count() == before + 4
