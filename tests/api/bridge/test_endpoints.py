"""Dead letters and queues of RabbitMQ over HTTP, and events that manage mail."""

from uuid import UUID, uuid4

import pytest

from mailqueue.bridge import letters, store
from mailqueue.bridge.model import Dead, QueueBinding
from mailqueue.db.pool import connect
from mailqueue.ports.broker import BrokerMessage
from tests import make
from tests.api.support.calling import Calling, error_of
from tests.bridge.messages import MASSTRANSIT, masstransit
from tests.inbox import events

pytestmark = pytest.mark.anyio
PATH = "/v1/dead-letters"
ORDERS = QueueBinding("orders", "default")


@pytest.fixture
async def kept(api: Calling) -> UUID:
    """Keep a dead letter that can be replayed and one that cannot; return the id of the first."""
    async with connect(api.database) as conn:
        await events.rule(conn, await events.project_with_template(conn))
        await store.note_queue(
            conn, "default", "orders", state="consuming", reason=None, received=7
        )
        good = BrokerMessage(1, masstransit(), content_type=MASSTRANSIT)
        found = await letters.keep(conn, ORDERS, good, Dead("it failed"))
        await letters.keep(conn, ORDERS, BrokerMessage(2, b"poison"), Dead("body: not JSON"))
    return found


async def test_dead_letters_are_listed_shown_and_replayed(api: Calling, kept: UUID) -> None:
    first = (await api.get(f"{PATH}?limit=1")).json()
    rest = (await api.get(f"{PATH}?limit=1&cursor={first['next_cursor']}")).json()
    assert [one["reason"] for one in first["data"]] == ["body: not JSON"]
    assert [one["id"] for one in rest["data"]] == [str(kept)]
    assert rest["next_cursor"] is None
    shown = (await api.get(f"{PATH}/{kept}")).json()
    assert (shown["type"], shown["content_type"]) == ("OrderPlaced", MASSTRANSIT)
    assert '"urn:message:Shop.Contracts:OrderPlaced"' in shown["body"]

    tried = (await api.post(f"{PATH}/replay", {"ids": [str(kept)], "dry_run": True})).json()
    done = (await api.post(f"{PATH}/replay", {"ids": [str(kept)]})).json()

    assert (tried["is_dry_run"], tried["events"], tried["emails"]) == (True, 1, 1)
    assert (done["is_dry_run"], done["events"], done["emails"]) == (False, 1, 1)
    listed = (await api.get(f"{PATH}?status=replayed")).json()
    assert [one["id"] for one in listed["data"]] == [str(kept)]


async def test_queues_are_listed_with_their_state(api: Calling, kept: UUID) -> None:
    [queue] = (await api.get("/v1/broker-queues")).json()["data"]

    assert (queue["name"], queue["project"]) == ("orders", "default")
    assert (queue["state"], queue["received_messages"]) == ("consuming", 7)


async def test_what_cannot_be_is_refused(api: Calling, kept: UUID) -> None:
    missing = await api.get(f"{PATH}/{uuid4()}")
    empty = await api.post(f"{PATH}/replay", {})

    assert missing.status_code == 404
    assert empty.status_code == 422
    assert "ids, a type or a time is needed" in error_of(empty)["message"]


async def test_an_event_by_http_manages_mail_only_where_the_project_allows_it(
    api: Calling, kept: UUID
) -> None:
    def event() -> dict[str, object]:
        kind = "CleanUpSentEmailIntegrationEvent"
        return {"message_id": str(uuid4()), "type": kind, "payload": {}}

    assert (await api.post("/v1/events", event())).json()["status"] == "ignored"
    async with connect(api.database) as conn:
        await make.rows(
            conn,
            "SELECT mailqueue.change_project("
            "'default', '{\"management_events\": \"api\"}', 'tests')",
        )

    done = (await api.post("/v1/events", event())).json()

    assert (done["status"], done["reason"]) == ("handled", "archive and retention are due")
    async with connect(api.database) as conn:
        due = "SELECT count(*) FROM mailqueue.maintenance_tasks WHERE run_at <= clock_timestamp()"
        assert await make.scalar(conn, due) >= 2
