"""Testing a webhook over HTTP, its secrets, and its log: read and retried."""

from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any
from uuid import uuid4

import pytest
import standardwebhooks

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import CLOSES, FakeReply, fake
from tests.api.support.wired import Wired, wired
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


async def test_a_test_says_what_came_back_and_is_signed_and_logged(api: Wired) -> None:
    async with fake([FakeReply(202, b"thanks")]) as server:
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
        (FakeReply(500, b"oh"), "answered 500"),
        (FakeReply(302, b""), "answered 302, and redirects are not followed"),
        (CLOSES, "the server's response is not HTTP"),
    ],
)
async def test_a_test_that_fails_says_why_and_is_not_tried_again(
    api: Wired, reply: FakeReply, error: str
) -> None:
    async with fake([reply]) as server:
        hook = (await made(api, url=f"http://127.0.0.1:{server.port}/x"))["webhook"]
        path = f"{HOOKS}/{hook['id']}"
        done = (await api.call("POST", f"{path}/test", {})).json()

    assert (done["success"], done["error"]) == (False, error)
    (row,) = (await api.call("GET", f"{path}/deliveries")).json()["data"]
    assert (row["status"], row["error"], row["next_attempt_at"]) == ("failed", error, None)


async def test_a_test_reaches_nothing_inside(api: Wired) -> None:
    """Though its URL was stored, by a release before or while its network was allowed."""
    hook = (await made(api, url=URL))["webhook"]
    async with connect(api.database) as conn:
        await conn.execute("UPDATE mailqueue.webhooks SET url = 'https://[::1]:8443/'")

    done = (await api.call("POST", f"{HOOKS}/{hook['id']}/test", {})).json()

    assert done["response_status"] is None
    assert done["error"] == "::1 is not a public address"


async def test_a_secret_is_replaced_and_both_sign_meanwhile(api: Wired) -> None:
    async with fake([FakeReply(200)]) as server:
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
    async with fake([FakeReply(400)]) as server, connect(database) as conn:
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
            server.replies[:] = [FakeReply(200)]
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
