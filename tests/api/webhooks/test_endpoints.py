"""Webhooks over HTTP: created, tested, changed, rotated and retried, by their project only."""

from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.api.support.calling import error_of
from tests.api.support.wired import Wired, wired

pytestmark = pytest.mark.anyio
HOOKS = "/v1/webhooks"
URL = "https://app.example.com/hooks"


@pytest.fixture(scope="module")
async def api(module_db: str) -> AsyncIterator[Wired]:
    database = DatabaseSettings(Secret(module_db))
    async with wired(database, allowed_hosts=(ip_network("127.0.0.0/8"),)) as served:
        yield served


async def made(api: Wired, **fields: Any) -> dict[str, Any]:
    answer = await api.call("POST", HOOKS, {"url": URL} | fields)
    assert answer.status_code == 201, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_a_webhook_is_registered_and_its_secret_is_shown_once(api: Wired) -> None:
    new = await made(api, event_types=["email.sent", "email.failed"], description="orders")

    assert new["secret"].startswith("whsec_")
    hook = new["webhook"]
    assert hook["event_types"] == ["email.failed", "email.sent"]
    assert (hook["is_enabled"], hook["circuit"], hook["description"]) == (True, "closed", "orders")
    shown = await api.call("GET", f"{HOOKS}/{hook['id']}")
    assert shown.json() == hook
    listed = await api.call("GET", HOOKS)
    assert hook in listed.json()["data"]
    assert "whsec_" not in shown.text + listed.text
    assert new["secret"] not in await _everything(api)


async def _everything(api: Wired) -> str:
    async with connect(api.database) as conn:
        hooks = await make.rows(conn, "SELECT w::text FROM mailqueue.webhooks AS w")
        audit = await make.rows(conn, "SELECT a::text FROM mailqueue.audit_events AS a")
        answers = await make.rows(
            conn, "SELECT convert_from(body, 'UTF8') FROM mailqueue.idempotent_answers"
        )
        return "".join(row[0] or "" for row in (*hooks, *audit, *answers))


async def test_a_repeated_registration_is_one_and_shows_no_secret(api: Wired) -> None:
    body = {"url": URL}
    key = str(uuid4())
    first = await api.call("POST", HOOKS, body, idempotency_key=key)
    again = await api.call("POST", HOOKS, body, idempotency_key=key)

    assert first.json()["webhook"] == again.json()["webhook"]
    assert first.json()["secret"]
    assert again.json()["secret"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": "ftp://example.com/"}, "url"),
        ({"url": "https://user:word@example.com/"}, "url"),
        ({"url": "https://example.com:25/"}, "url"),
        ({"url": "https://169.254.169.254/latest"}, "url"),
        ({"url": "https://[::1]/x"}, "url"),
        ({"url": URL, "event_types": ["email.bounced"]}, "event_types.0"),
        ({"url": URL, "event_types": "email.sent"}, "event_types"),
        ({"url": URL, "secret": "hunter2"}, "secret"),
        ({"url": URL, "description": "a\u0000b"}, "description"),
        ({"url": URL, "owner": "me"}, "owner"),
    ],
)
async def test_what_makes_no_webhook_is_refused_with_the_field(
    api: Wired, body: dict[str, Any], field: str
) -> None:
    answer = await api.call("POST", HOOKS, body)

    assert answer.status_code == 422
    assert field in str(error_of(answer))
    assert "hunter2" not in answer.text


async def test_a_webhook_is_changed_field_by_field(api: Wired) -> None:
    hook = (await made(api, description="orders", event_types=["email.sent"]))["webhook"]
    path = f"{HOOKS}/{hook['id']}"

    first = await api.call("PUT", path, {"url": "https://b.example.com/"})
    second = await api.call("PUT", path, {"event_types": [], "description": None})
    third = await api.call("PUT", path, {"is_enabled": False})
    refused = [
        await api.call("PUT", path, body) for body in ({}, {"url": None}, {"is_enabled": None})
    ]

    assert first.json()["url"] == "https://b.example.com/"
    assert first.json()["event_types"] == ["email.sent"]
    assert (second.json()["event_types"], second.json()["description"]) == ([], None)
    assert third.json()["circuit"] == "disabled"
    assert third.json()["disabled_reason"] == "operator"
    assert [one.status_code for one in refused] == [400, 400, 400]
    on = await api.call("POST", f"{path}/enable")
    assert (on.json()["is_enabled"], on.json()["disabled_reason"]) == (True, None)
    off = await api.call("POST", f"{path}/disable")
    assert off.json()["is_enabled"] is False


async def test_a_removed_webhook_is_no_more(api: Wired) -> None:
    hook = (await made(api))["webhook"]
    path = f"{HOOKS}/{hook['id']}"

    assert (await api.call("DELETE", path)).status_code == 204
    for method, rest in (("GET", ""), ("DELETE", ""), ("GET", "/deliveries"), ("POST", "/enable")):
        assert (await api.call(method, path + rest)).status_code == 404


async def test_webhooks_of_other_projects_are_neither_shown_nor_changed(api: Wired) -> None:
    hook = (await made(api))["webhook"]
    path = f"{HOOKS}/{hook['id']}"
    calls = [
        ("GET", path, None),
        ("PUT", path, {"description": "mine"}),
        ("DELETE", path, None),
        ("POST", f"{path}/test", {}),
        ("POST", f"{path}/rotate-secret", {}),
        ("POST", f"{path}/enable", None),
        ("POST", f"{path}/disable", None),
        ("GET", f"{path}/deliveries", None),
        ("GET", f"{path}/deliveries/{uuid4()}", None),
        ("POST", f"{path}/deliveries/retry", {}),
        ("POST", f"{path}/deliveries/{uuid4()}/retry", None),
    ]

    for method, where, body in calls:
        answer = await api.call(method, where, body, key=api.other)
        assert answer.status_code == 404, (method, where, answer.text)
    listed = await api.call("GET", HOOKS, key=api.other)
    assert listed.json()["data"] == []
    assert (await api.call("GET", path)).json() == hook


async def test_a_key_without_the_scope_may_do_nothing(api: Wired) -> None:
    for method, body in (("GET", None), ("POST", {"url": URL})):
        answer = await api.call(method, HOOKS, body, key=api.reads)
        assert answer.status_code == 403
        assert "webhook:manage" in answer.text


async def test_types_are_listed_with_their_meaning(api: Wired) -> None:
    found = (await api.call("GET", f"{HOOKS}/event-types")).json()["data"]

    assert {"email.sent", "email.hard_bounce", "email.held"} <= {one["type"] for one in found}
    assert all(one["description"] for one in found)


async def test_a_project_has_a_bounded_number_of_webhooks(api: Wired) -> None:
    async with connect(api.database) as conn:
        project = await make.project(conn, "many")
        issued = await issue_key(conn, "many", "k", is_test=False, requests_per_second=10_000)
        await conn.execute(
            "INSERT INTO mailqueue.webhooks (project_id, url, sealed_secret)"
            " SELECT %s, 'https://example.com/', '\\x00' FROM generate_series(1, 50)",
            (project,),
        )

    answer = await api.call("POST", HOOKS, {"url": URL}, key=issued.key.reveal())

    assert answer.status_code == 409
    assert "50 webhooks" in answer.text


@pytest.mark.parametrize("form", ["resend", "postmark", "sendgrid", "mailgun"])
async def test_a_format_of_a_provider_is_chosen_and_tested(api: Wired, form: str) -> None:
    async with fake([FakeReply(200)]) as server:
        new = await made(api, url=f"http://127.0.0.1:{server.port}/hooks", format=form)
        path = f"{HOOKS}/{new['webhook']['id']}"
        tested = await api.call("POST", f"{path}/test", {})

    assert (new["webhook"]["format"], tested.json()["type"]) == (form, "email.delivered")
    assert (new["secret"] is None) is (new["webhook"]["public_key"] is not None)
    assert "email.held" not in new["webhook"]["event_types"]
    (request,) = server.requests
    assert b'"project_id"' not in request.body
    # All types of the format, not all of ours.
    changed = await api.call("PUT", path, {"event_types": []})
    assert changed.json()["event_types"] == new["webhook"]["event_types"]
    for body in ({"event_types": ["email.held"]}, {"secret": "x"}):
        refused = await api.call("PUT", path, body)
        assert refused.status_code == 422
        assert next(iter(body)) in str(error_of(refused))


async def test_a_format_that_is_unknown_is_refused_by_name(api: Wired) -> None:
    refused = await api.call("POST", HOOKS, {"url": URL, "format": "sparkpost"})

    assert refused.status_code == 422
    assert "format" in str(error_of(refused))
