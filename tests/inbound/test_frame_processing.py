"""Events of providers are recorded once, wait for their mail, and never delay others."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from mailqueue.core.queues.registry import queue_named
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.db.pool import connect
from mailqueue.inbound import store
from mailqueue.inbound.model import ClaimedRequest
from mailqueue.queue import store as queue_store
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.process import Kind, run_queues
from mailqueue.queue.settler import Settler
from mailqueue.queue.tasks import cancelled
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.events.sent_mail import left
from tests.inbound.json_provider import Confirming, due_now, handler, kept, states, work

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def database(module_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(module_db))


@pytest.fixture(scope="module")
async def sql(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as conn:
        await make.by_hand(conn)
        yield conn


@pytest.fixture(autouse=True)
async def nothing_told(sql: Conn) -> None:
    await sql.execute(
        "TRUNCATE mailqueue.inbound_events, mailqueue.email_events, mailqueue.event_keys"
    )


def told(mail: UUID | str, event_id: str = "1", word: str = "delivered") -> dict[str, str]:
    return {"type": word, "event_id": event_id, "email_id": str(mail)}


async def events(conn: Conn) -> list[str]:
    found = await make.rows(conn, "SELECT type FROM mailqueue.email_events ORDER BY id")
    return [row[0] for row in found]


async def outcome(conn: Conn) -> dict[str, object]:
    found: dict[str, object] = await make.scalar(
        conn, "SELECT outcome FROM mailqueue.inbound_events ORDER BY id LIMIT 1"
    )
    return found


async def test_what_is_told_is_recorded_and_done(database: DatabaseSettings, sql: Conn) -> None:
    mail = await left(sql)
    await kept(sql, told(mail), told(mail, "2", "opened"))

    assert await work(database) == 1

    assert await states(sql) == ["processed"]
    assert await events(sql) == ["delivered", "opened"]
    assert await outcome(sql) == {"events": {"recorded": 2}}
    assert await work(database) == 0


async def test_unknown_and_bad_elements_are_kept_by_their_names(
    database: DatabaseSettings, sql: Conn
) -> None:
    mail = await left(sql)
    await kept(sql, {"type": "group_moved"}, 7, told(mail), {"type": None, "kind": "odd"})

    await work(database)

    assert await states(sql) == ["processed"]
    assert await events(sql) == ["delivered"]
    assert await outcome(sql) == {
        "events": {"recorded": 1},
        "unknown": ["group_moved", "odd"],
        "bad": ["7 is no event"],
    }


async def test_an_event_waits_for_its_mail_and_the_others_are_recorded_once(
    database: DatabaseSettings, sql: Conn
) -> None:
    late, mail = uuid4(), await left(sql)
    without_id = told(mail) | {"event_id": None}
    await kept(sql, told(late, "2"), without_id)
    await work(database)
    assert await states(sql) == ["pending"]
    assert (await outcome(sql))["unmatched"] == 1

    assert await work(database) == 0, "not at once again"
    await due_now(sql)
    await work(database)
    await left(sql, id=late)
    await due_now(sql)
    await work(database)

    assert await states(sql) == ["processed"]
    assert await outcome(sql) == {"events": {"recorded": 2}}
    assert await events(sql) == ["delivered", "delivered"]
    assert await make.scalar(sql, "SELECT attempts FROM mailqueue.inbound_events") == 1


async def test_an_event_without_mail_is_given_up_after_days(
    database: DatabaseSettings, sql: Conn
) -> None:
    await kept(sql, told(uuid4()))
    await sql.execute("UPDATE mailqueue.inbound_events SET wait_until = now()")

    await work(database)

    assert await states(sql) == ["unmatched"]
    [found] = await make.rows(sql, "SELECT id, last_error FROM mailqueue.inbound_events")
    assert found[1] == "there is no mail for 1 of its events"
    assert await store.retry(sql, [found[0]], by="tests") == 1
    assert await states(sql) == ["pending"]


async def test_poison_fails_with_its_reason_and_others_go_on(
    database: DatabaseSettings, sql: Conn
) -> None:
    mail = await left(sql)
    poison = await kept(sql, body=b'"poison"')
    await kept(sql, told(mail))
    await sql.execute(
        "UPDATE mailqueue.inbound_events SET max_attempts = 2 WHERE id = %s", (poison,)
    )

    await work(database)
    assert await states(sql) == ["pending", "processed"]
    await due_now(sql)
    await work(database)

    assert await states(sql) == ["failed", "processed"]
    why = await make.scalar(
        sql, "SELECT last_error FROM mailqueue.inbound_events WHERE id = %s", poison
    )
    assert why == "cannot be read: RecursionError: too deep"


async def test_what_cannot_be_recorded_harms_itself_alone(
    database: DatabaseSettings, sql: Conn
) -> None:
    mail = await left(sql)
    await kept(sql, told(mail, "2") | {"code": "harm"})
    await kept(sql, told(mail))
    await sql.execute(
        "ALTER TABLE mailqueue.email_events ADD CONSTRAINT tests CHECK (code <> 'harm') NOT VALID"
    )
    try:
        await work(database)
    finally:
        await sql.execute("ALTER TABLE mailqueue.email_events DROP CONSTRAINT tests")

    assert await states(sql) == ["pending", "processed"]
    assert await events(sql) == ["delivered"]


async def test_a_worker_that_lost_a_request_records_nothing_of_it(
    database: DatabaseSettings, sql: Conn
) -> None:
    mail = await left(sql)
    await kept(sql, told(mail) | {"event_id": None})
    spec, number = queue_named("inbound"), await make.worker(sql)
    [claim] = await queue_store.claim(sql, spec, ClaimedRequest, worker=number, limit=10)
    assert await queue_store.claim(sql, spec, ClaimedRequest, worker=number, limit=10) == []
    await make.silent(sql, number)
    await queue_store.rescue(sql, silence=timedelta(seconds=30))

    await work(database)

    assert await events(sql) == ["delivered"]
    late = handler(database)
    writes, written = Link(database, "tests"), list[ClaimedRequest]()
    settler = Settler(
        writes, spec, late, InProgress(), written=lambda rows, _: written.extend(rows)
    )
    settler.settle(claim, await late.handle(claim))
    running = asyncio.create_task(settler.run())
    await settler.drained()
    await cancelled(running)
    await writes.close()
    assert written == [claim]
    assert await events(sql) == ["delivered"]
    assert await states(sql) == ["processed"]


async def test_many_workers_record_each_event_once(database: DatabaseSettings, sql: Conn) -> None:
    mail = await left(sql)
    for n in range(120):
        await kept(sql, told(mail, f"e{n % 60}"))

    await asyncio.gather(*(work(database) for _ in range(4)))

    assert set(await states(sql)) == {"processed"}
    assert len(await events(sql)) == 60


async def test_a_confirmation_is_fetched_once(database: DatabaseSettings, sql: Conn) -> None:
    confirming = Confirming(is_away=True)
    await kept(sql, confirm_url="https://sns.example.com/confirm")
    await work(database, confirming)
    assert await states(sql) == ["pending"]

    confirming.is_away = False
    await due_now(sql)
    await work(database, confirming)
    await work(database, confirming)

    assert await states(sql) == ["processed"]
    assert confirming.fetched == ["https://sns.example.com/confirm"] * 2


async def test_a_refused_confirmation_is_a_failure(database: DatabaseSettings, sql: Conn) -> None:
    await kept(sql, confirm_url="https://sns.example.com/confirm")

    await work(database, Confirming(answer=None))

    assert await states(sql) == ["failed"]


@pytest.mark.deep
async def test_it_stops_when_told_to(database: DatabaseSettings, sql: Conn) -> None:
    mail = await left(sql)
    await kept(sql, told(mail))
    stop = asyncio.Event()
    kinds = [Kind(queue_named("inbound"), lambda: handler(database))]
    working = run_queues(database, kinds, stop, launch_id=uuid4(), in_progress=InProgress())
    running = asyncio.create_task(working)
    async with asyncio.timeout(60):
        while await states(sql) != ["processed"]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        stop.set()
        await running
