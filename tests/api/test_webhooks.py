"""Webhooks over HTTP: registered, tested, changed, rotated, retried, and nobody else's."""

from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any
from uuid import uuid4

import pytest
import standardwebhooks

from mailqueue.core.config import DatabaseSettings
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.tenants.keys import issue_key
from tests import make
from tests.adapters.sending.fake import CLOSES, Reply, fake
from tests.api.calling import error_of
from tests.api.wired import Wired, wired
from tests.webhooks.delivering import delivering, due_now, told, until

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


async def test_nobody_sees_or_touches_the_webhooks_of_others(api: Wired) -> None:
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


async def test_a_test_says_what_came_back_and_is_signed_and_logged(api: Wired) -> None:
    async with fake([Reply(202, b"thanks")]) as server:
        new = await made(api, url=f"http://127.0.0.1:{server.port}/x", event_types=["email.sent"])
        path = f"{HOOKS}/{new['webhook']['id']}"
        first = (await api.call("POST", f"{path}/test", {})).json()
        second = (await api.call("POST", f"{path}/test", {"type": "email.clicked"})).json()
        refused = await api.call("POST", f"{path}/test", {"type": "email.bounced"})

    assert (first["success"], first["response_status"], first["response_body"]) == (
        True,
        202,
        "thanks",
    )
    assert (first["type"], second["type"]) == ("webhook.test", "email.clicked")
    assert refused.status_code == 422
    for request, done in zip(server.requests, (first, second), strict=True):
        event = standardwebhooks.Webhook(new["secret"]).verify(
            request.body.decode(), dict(request.headers)
        )
        assert (event["type"], event["data"]["is_test"]) == (done["type"], True)
        assert request.headers["webhook-id"] == done["event_id"]
    log = (await api.call("GET", f"{path}/deliveries/{first['delivery_id']}")).json()
    assert log["delivery"]["status"] == "delivered"
    assert log["payload"]["data"]["event_id"] == first["event_id"]
    (attempt,) = log["attempts"]
    assert (attempt["response_status"], attempt["response_body"]) == (202, "thanks")
    assert "webhook-signature" not in attempt["request_headers"]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(500, b"oh"), "answered 500"),
        (Reply(302, b""), "answered 302, and redirects are not followed"),
        (CLOSES, "what the server sent is not HTTP"),
    ],
)
async def test_a_test_that_fails_says_why_and_is_not_tried_again(
    api: Wired, reply: Reply, error: str
) -> None:
    async with fake([reply]) as server:
        hook = (await made(api, url=f"http://127.0.0.1:{server.port}/x"))["webhook"]
        path = f"{HOOKS}/{hook['id']}"
        done = (await api.call("POST", f"{path}/test", {})).json()

    assert (done["success"], done["error"]) == (False, error)
    (row,) = (await api.call("GET", f"{path}/deliveries")).json()["data"]
    assert (row["status"], row["error"], row["next_attempt_at"]) == ("failed", error, None)


async def test_a_test_reaches_nothing_inside(api: Wired) -> None:
    hook = (await made(api, url="https://[::1]:8443/"))["webhook"]

    done = (await api.call("POST", f"{HOOKS}/{hook['id']}/test", {})).json()

    assert done["response_status"] is None
    assert done["error"] == "::1 does not lead to a public address"


async def test_a_secret_is_replaced_and_both_sign_meanwhile(api: Wired) -> None:
    async with fake([Reply(200)]) as server:
        new = await made(api, url=f"http://127.0.0.1:{server.port}/x")
        path = f"{HOOKS}/{new['webhook']['id']}"
        rotated = (await api.call("POST", f"{path}/rotate-secret", {})).json()
        await api.call("POST", f"{path}/test", {})
        alone = (await api.call("POST", f"{path}/rotate-secret", {"overlap_hours": 0})).json()
        await api.call("POST", f"{path}/test", {})
        too_long = await api.call("POST", f"{path}/rotate-secret", {"overlap_hours": 10_000})

    both, last = server.requests
    assert rotated["webhook"]["previous_secret_until"] is not None
    assert alone["webhook"]["previous_secret_until"] is None
    assert too_long.status_code == 422
    for secret in (new["secret"], rotated["secret"]):
        standardwebhooks.Webhook(secret).verify(both.body.decode(), dict(both.headers))
    standardwebhooks.Webhook(alone["secret"]).verify(last.body.decode(), dict(last.headers))
    assert last.headers["webhook-signature"].count("v1,") == 1


async def test_a_secret_of_ones_own_is_taken(api: Wired) -> None:
    own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    assert (await made(api, secret=own))["secret"] == own


async def test_what_failed_is_told_again_one_by_one_or_by_range(api: Wired) -> None:
    database = api.database
    async with fake([Reply(400)]) as server, connect(database) as conn:
        new = await made(api, url=f"http://127.0.0.1:{server.port}/x")
        path = f"{HOOKS}/{new['webhook']['id']}"
        await told(conn, 4, project_id=await make.project_named(conn, "shop"))
        await conn.execute("UPDATE mailqueue.webhook_deliveries SET max_attempts = 1")

        async def statuses() -> list[str]:
            await due_now(conn)
            page = await api.call("GET", f"{path}/deliveries?limit=100")
            return [one["status"] for one in page.json()["data"]]

        async with delivering(database):

            async def have(state: str) -> None:
                async def all_have() -> bool:
                    return await statuses() == [state] * 4

                await until(all_have, what=state)

            await have("failed")
            busy = await api.call("POST", f"{path}/deliveries/{uuid4()}/retry")
            server.replies[:] = [Reply(200)]
            listed = (await api.call("GET", f"{path}/deliveries?status=failed&limit=3")).json()
            one = listed["data"][0]
            retried = await api.call("POST", f"{path}/deliveries/{one['id']}/retry")
            rest = await api.call(
                "POST", f"{path}/deliveries/retry", {"since": "2020-01-01T00:00:00Z"}
            )
            await have("delivered")

    assert busy.status_code == 404
    assert (listed["data"][0]["response_status"], len(listed["data"])) == (400, 3)
    assert listed["next_cursor"] is not None
    assert retried.json()["status"] == "pending"
    assert rest.json()["retried"] in (3, 4)
    none = await api.call("POST", f"{path}/deliveries/retry", {"until": "2020-01-01T00:00:00Z"})
    assert none.json() == {"retried": 0}


async def test_the_log_is_read_page_by_page_and_filtered(api: Wired) -> None:
    async with connect(api.database) as conn:
        hook = (await made(api))["webhook"]
        path = f"{HOOKS}/{hook['id']}/deliveries"
        project = await make.project_named(conn, "shop")
        await told(conn, 5, project_id=project)
        await told(conn, 2, kind="opened", project_id=project)
        email_id = await make.scalar(
            conn,
            "SELECT email_id FROM mailqueue.webhook_events WHERE type = 'email.opened' LIMIT 1",
        )

    seen, cursor = list[str](), ""
    while True:
        page = (await api.call("GET", f"{path}?limit=3{cursor}")).json()
        seen += [one["id"] for one in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    opened = (await api.call("GET", f"{path}?type=email.opened")).json()["data"]
    of_mail = (await api.call("GET", f"{path}?email_id={email_id}")).json()["data"]
    later = (await api.call("GET", f"{path}?since=2100-01-01T00:00:00Z")).json()["data"]

    assert len(seen) == len(set(seen)) == 7
    assert seen == sorted(seen, reverse=True)
    assert len(opened) == 2
    assert [one["email_id"] for one in of_mail] == [str(email_id)]
    assert later == []


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
