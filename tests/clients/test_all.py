"""What holds for every compatible API: routing, hostile bodies, repeated requests, errors."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.model import CompatApi, CompatError
from mailqueue.api.compat.routing import CompatRouting, answer_any_fault
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.dependencies import Services
from mailqueue.api.http.endpoint import Endpoint, Once
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.table import ENDPOINTS, SHAPES
from mailqueue.core.errors import MailqueueError
from mailqueue.db.pool import open_pool
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.modes import credentials
from tests.clients.serving import Served

RESEND: dict[str, Any] = {
    "from": "a@example.com",
    "to": ["b@example.org"],
    "subject": "s",
    "html": "h",
    "text": "t",
    "cc": "c@example.org",
    "reply_to": ["d@example.com"],
    "headers": {"X-A": "b"},
    "tags": [{"name": "a", "value": "b"}],
    "scheduled_at": "in 1 min",
    "attachments": [{"filename": "a.txt", "content": "YQ=="}],
}
POSTMARK = {
    "From": "a@example.com",
    "To": "b@example.org",
    "Subject": "s",
    "HtmlBody": "h",
    "Cc": "c@example.org",
    "ReplyTo": "d@example.com",
    "Headers": [{"Name": "X-A", "Value": "b"}],
    "Metadata": {"a": "b"},
    "Tag": "t",
    "TrackOpens": False,
    "MessageStream": "outbound",
    "Attachments": [{"Name": "a.txt", "Content": "YQ==", "ContentType": "text/plain"}],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FUZZED = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_a_shape_takes_no_path_from_ours() -> None:
    ours = {each.path for each in ENDPOINTS}
    shaped = [each.path for shape in SHAPES for each in shape.endpoints]

    assert not ours & set(shaped)
    # Mailgun's own /v1: our API has no such path, nor one with a variable in its place, but for
    # /v1/dkim/{key_id}, of which no id is `keys`.
    assert {path for path in shaped if path.startswith("/v1")} == {
        "/v1/analytics/logs",
        "/v1/analytics/metrics",
        "/v1/analytics/tags",
        "/v1/analytics/tags/limits",
        "/v1/dkim/keys",
        "/v1/keys",
        "/v1/keys/{key_id}",
    }
    beside = ("/v1/analytics/{", "/v1/keys", "/v1/{")
    assert not any(path.startswith(beside) for path in ours)
    assert len({shape.name for shape in SHAPES}) == len(SHAPES)


def test_what_is_not_there_is_said_by_whose_it_would_be(site: Served) -> None:
    key = {"Authorization": f"Bearer {site.keys.live}"}

    def asked(method: str, path: str, **headers: str) -> requests.Response:
        return requests.request(method, f"{site.url}{path}", headers=key | headers, timeout=60)

    assert asked("GET", "/emails/").json()["object"] == "list"
    wrong = asked("PUT", "/emails")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, POST")
    assert set(wrong.json()) == {"statusCode", "name", "message"}
    assert asked("POST", "/emails/x/share").json()["name"] == "not_found"
    assert "ErrorCode" in asked("POST", "/email/bounced").json()
    assert "request_id" in asked("GET", "/emailsandmore").json()
    assert "request_id" in asked("POST", "/v1/emails").json()
    head = asked("HEAD", "/emails")
    assert (head.status_code, head.content) == (200, b"")
    named = asked("GET", "/emails", **{"X-Request-Id": "request-0815"})
    assert named.headers["x-request-id"] == "request-0815"


NOT_THERE = [
    ("resend", "GET", "/usage"),
    ("resend", "POST", "/emails/x/share"),
    ("postmark", "GET", "/stats/outbound/opens/readtimes"),
    ("postmark", "GET", "/stats/outbound/tracked"),
    ("postmark", "POST", "/templates/x/copy"),
    ("sendgrid", "GET", "/v3/ips"),
    ("sendgrid", "GET", "/v3/marketing/integrations"),
    ("sendgrid", "GET", "/v3/marketing/contacts/x/identifiers"),
    ("sendgrid", "POST", "/v3/verified_senders/resend/7"),
    ("mailgun", "GET", "/v3/routes"),
    ("mailgun", "GET", "/v3/ip_pools"),
    ("mailgun", "POST", "/v1/analytics/usage/metrics"),
]
FORMS = {
    "resend": lambda told: (set(told), told["message"]),
    "postmark": lambda told: (set(told), told["Message"].rstrip(".")),
    "sendgrid": lambda told: (set(told), told["errors"][0]["message"]),
    "mailgun": lambda told: (set(told), told["message"]),
}
KEYS_OF_FORMS = {
    "resend": {"statusCode", "name", "message"},
    "postmark": {"ErrorCode", "Message"},
    "sendgrid": {"errors"},
    "mailgun": {"message"},
}


@pytest.mark.parametrize(("api", "method", "path"), NOT_THERE)
def test_an_operation_that_is_not_there_is_named_in_the_form_of_its_api(
    site: Served, api: str, method: str, path: str
) -> None:
    given = credentials(api, site.keys.live)
    answer = requests.request(method, f"{site.url}{path}", headers=given, timeout=60)

    assert answer.status_code == 404
    names, why = FORMS[api](answer.json())
    assert (names, why) == (KEYS_OF_FORMS[api], f"{method} {path} is not supported here")


@FUZZED
@given(field=st.sampled_from(sorted(RESEND)), value=JSON)
def test_whatever_a_field_of_resends_holds_is_judged(site: Served, field: str, value: Any) -> None:
    answer = requests.post(
        f"{site.url}/emails",
        data=httpx2.Request("POST", ORIGIN, json=_finite(RESEND | {field: value})).content,
        headers={"Authorization": f"Bearer {site.keys.live}"},
        timeout=60,
    )

    document = answer.json()
    if answer.status_code == 200:
        assert document["id"]
    else:
        assert answer.status_code in (400, 403, 422), document
        assert {"statusCode", "name", "message"} == set(document)


@FUZZED
@given(field=st.sampled_from(sorted(POSTMARK)), value=JSON, is_batch=st.booleans())
def test_whatever_a_field_of_postmarks_holds_is_judged(
    site: Served, field: str, value: Any, is_batch: bool
) -> None:
    message = _finite(POSTMARK | {field: value})
    answer = requests.post(
        f"{site.url}/email/batch" if is_batch else f"{site.url}/email",
        data=httpx2.Request("POST", ORIGIN, json=[message] if is_batch else message).content,
        headers={
            "X-Postmark-Server-Token": site.keys.live,
            "Content-Type": "application/json",
        },
        timeout=60,
    )

    document = answer.json()[0] if is_batch else answer.json()
    assert (answer.status_code == 200) == (is_batch or document["ErrorCode"] == 0), document
    assert document["ErrorCode"] in (0, 300, 402, 403, 411, 1235, 1236), document
    assert document["Message"]


def _finite(value: Any) -> Any:
    """Return JSON that can be written: without infinities and lone surrogates."""
    match value:
        case float() if value != value or value in (float("inf"), float("-inf")):
            return 0.5
        case str():
            return value.encode("utf-8", "replace").decode()
        case list():
            return [_finite(each) for each in value]
        case dict():
            return {_finite(name): _finite(each) for name, each in value.items()}
    return value


def test_twins_that_come_at_once_are_one_mail(site: Served) -> None:
    before = site.count()

    def send(_: int) -> requests.Response:
        return requests.post(
            f"{site.url}/emails",
            json={name: RESEND[name] for name in ("from", "to", "subject", "html")},
            headers={"Authorization": f"Bearer {site.keys.live}", "Idempotency-Key": "twins"},
            timeout=60,
        )

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(16)))

    assert {each.status_code for each in answers} == {200}
    assert len({each.json()["id"] for each in answers}) == 1
    assert site.count() == before + 1


async def fail(call: RequestContext) -> Response:
    raise RuntimeError("a secret")


async def say_project(call: RequestContext) -> Response:
    return json_answer({"project": call.caller.project, "of": call.path["name"]})


def worded(request: Request, exc: CompatError) -> Response:
    assert isinstance(exc, MailqueueError | HTTPException)
    return Response(f"no: {type(exc).__name__}", 418)


OWN = CompatApi(
    name="own",
    endpoints=(
        Endpoint("POST", "/own/fail", None, "Fail.", fail, once=Once.ITSELF),
        Endpoint("GET", "/own/{name}/project", None, "Say it.", say_project),
    ),
    credential_of=lambda request: request.headers.get("x-own", "none"),
    refused=worded,
    roots=("/own",),
)


@pytest.fixture
async def own(site: Served) -> AsyncIterator[httpx2.AsyncClient]:
    async with open_pool(site.database) as pool:
        runtime = Runtime(settings_for(site.database), pool, Services())
        app = Starlette(
            routes=[CompatRouting([OWN], runtime)], exception_handlers={Exception: answer_any_fault}
        )
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(
            transport=transport, base_url=ORIGIN, headers={"X-Own": site.keys.live}
        ) as http:
            yield http


@pytest.mark.anyio
async def test_faults_of_ours_are_worded_by_the_shape_without_a_secret(
    own: httpx2.AsyncClient,
) -> None:
    for path, why in (("/own/fail", "HTTPException"), ("/own/other", "HTTPException")):
        answer = await own.post(path)
        assert (answer.status_code, answer.text) == (418, f"no: {why}")
    shown = await own.get("/own/x/project/")
    assert shown.json() == {"project": "default", "of": "x"}
    stranger = await own.get("/own/x/project", headers={"X-Own": "nobody"})
    assert stranger.text == "no: Unauthorized"
    assert (await own.get("/elsewhere")).status_code == 404


def test_two_shapes_cannot_share_a_path() -> None:
    with pytest.raises(ValueError, match="belongs to own"):
        CompatRouting([OWN, OWN], None)  # type: ignore[arg-type]
