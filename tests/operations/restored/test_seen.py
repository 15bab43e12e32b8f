"""No mail is sent from a database that is behind what a process has seen of it."""

import asyncio
import json
from uuid import uuid4

import pytest

from mailqueue.core.errors import LeaseLost
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.heartbeat import Heartbeat
from mailqueue.queue.rescue import turn
from mailqueue.queue.server_memory import ServerMemory
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, mark, opened
from tests.operations.restored.seeing import (
    COPIED,
    PROMOTED,
    at_work,
    beat,
    change,
    earlier,
    restart_session,
    see,
)

pytestmark = pytest.mark.anyio


async def actions(conn: Conn) -> list[str]:
    query = "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'queue.%' ORDER BY id"
    return [row[0] for row in await make.rows(conn, query)]


async def progress(conn: Conn) -> int:
    found: int = await make.scalar(conn, "SELECT mailqueue.send_progress()")
    return found


async def test_progress_rises_with_marks_and_workers_and_keeps_those_that_ended(
    conn: Conn,
) -> None:
    counts = [await progress(conn)]
    worker = await make.worker(conn)
    counts.append(await progress(conn))
    await make.sender_account(conn)
    await make.queued_email(conn)
    await mark(conn, worker, await claim(conn, worker))
    counts.append(await progress(conn))
    assert counts == sorted(set(counts))

    await store.stop_worker(conn, worker)

    assert await progress(conn) == counts[-1]


async def test_a_first_worker_sends_and_its_server_is_kept(conn: Conn) -> None:
    _, due = await at_work(conn)

    assert await make.scalar(conn, "SELECT identity FROM mailqueue.server_identity") == (
        await make.scalar(conn, "SELECT mailqueue.read_server_identity()")
    )
    assert (await see(conn)).refusal is None
    assert [one.id for one in await claim(conn, await make.worker(conn))] == [due]


async def test_a_database_behind_what_was_seen_is_not_sent_from(conn: Conn) -> None:
    worker, due = await at_work(conn)
    seen = json.loads((await see(conn)).seen or "")
    assert seen["progress"] == await progress(conn)
    ahead = json.dumps(seen | {"progress": seen["progress"] + 1})

    answer = await see(conn, ahead)

    assert answer.seen == ahead
    assert answer.refusal is not None
    assert answer.refusal.startswith("the database has gone back: ")
    assert await claim(conn, worker) == []
    assert await claim(conn, await make.worker(conn)) == [], "a new worker neither"
    assert await store_suspects(conn, worker) == []
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", due)
    assert why.startswith("no mail is sent: the database has gone back")
    assert "mailqueue restored --from TIME" in why
    reasons = await make.rows(conn, "SELECT reason FROM mailqueue.queue_blocked")
    assert [row[0].startswith("no mail is sent: ") for row in reasons] == [True]
    health = "SELECT state FROM mailqueue.health_of_mail() WHERE name = 'restored database'"
    assert await make.scalar(conn, health) == "alarm"


async def store_suspects(conn: Conn, worker: int) -> list[object]:
    await change(conn, "UPDATE mailqueue.email_queue SET crashes = 1 WHERE status = 'pending'")
    found = await make.rows(
        conn, "SELECT id FROM mailqueue.claim_suspect(%s, interval '15 min')", worker
    )
    await change(conn, "UPDATE mailqueue.email_queue SET crashes = 0 WHERE status = 'pending'")
    return list(found)


async def test_own_marks_that_are_gone_are_noticed_whatever_others_did(conn: Conn) -> None:
    worker, _ = await at_work(conn)
    seen = (await beat(conn, worker, None)).seen
    rev = await make.scalar(
        conn, "SELECT rev FROM mailqueue.send_intents WHERE worker_id = %s", worker
    )
    assert (await beat(conn, worker, seen, marks=rev)).refusal is None
    for _ in range(5):  # progress by others
        await make.worker(conn)

    answer = await beat(conn, worker, seen, marks=rev + 1)

    assert "gone back" in str(answer.refusal)
    assert answer.is_known


async def test_a_worker_whose_id_another_has_now_knows_that_the_database_went_back(
    conn: Conn,
) -> None:
    worker, _ = await at_work(conn)
    seen = (await beat(conn, worker, None)).seen

    answer = await store.beat(
        conn, worker, is_stopping=False, launch_id=uuid4(), seen=seen, marks=0
    )

    assert not answer.is_known
    assert "gone back" in str(answer.refusal)


async def test_a_restored_database_is_not_sent_from_by_workers_that_never_saw_it(
    conn: Conn,
) -> None:
    await at_work(conn)
    await change(conn, COPIED)
    worker = await make.worker(conn)
    await restart_session(conn)

    answer = await beat(conn, worker, None)
    again = await beat(conn, worker, answer.seen)

    assert str(again.refusal).startswith("the database was restored, copied or promoted (noticed")
    assert await claim(conn, worker) == []
    await change(
        conn, "UPDATE mailqueue.server_identity SET changed_at = changed_at - interval '1 h'"
    )
    assert (await beat(conn, worker, again.seen)).refusal, "time alone proves nothing"
    assert await claim(conn, worker) == []


async def seen_before(conn: Conn, worker: int) -> str:
    """Return what a worker has seen on the server before; then the server is another one."""
    seen = json.loads((await beat(conn, worker, None)).seen or "")
    await change(conn, PROMOTED)
    await restart_session(conn)
    return json.dumps(seen | {"identity": await earlier(conn)})


async def test_a_promoted_standby_that_has_all_is_sent_from_by_itself(conn: Conn) -> None:
    worker, due = await at_work(conn)
    seen = await seen_before(conn, worker)
    assert await claim(conn, worker) == [], "nobody has compared yet"

    answer = await beat(conn, worker, seen, marks=1)

    assert answer.refusal is None
    assert [one.id for one in await claim(conn, worker)] == [due]
    assert await actions(conn) == ["queue.server_followed"]


async def test_every_worker_that_runs_compares_before_mail_is_sent(conn: Conn) -> None:
    """The marks of another one may be the ones that were lost."""
    worker, due = await at_work(conn)
    other = await make.worker(conn)
    other_seen = (await beat(conn, other, None)).seen
    seen = await seen_before(conn, worker)
    assert other_seen is not None

    assert (await beat(conn, worker, seen)).refusal is not None
    assert await claim(conn, worker) == []

    other_seen = json.dumps(json.loads(other_seen) | {"identity": await earlier(conn)})
    assert (await beat(conn, other, other_seen)).refusal is None
    assert [one.id for one in await claim(conn, worker)] == [due]


async def test_a_worker_that_died_is_not_waited_for_longer_than_a_lost_one(conn: Conn) -> None:
    worker, due = await at_work(conn)
    await make.worker(conn)
    seen = await seen_before(conn, worker)
    assert (await beat(conn, worker, seen)).refusal is not None

    await change(
        conn, "UPDATE mailqueue.server_identity SET changed_at = changed_at - interval '31 s'"
    )

    assert (await beat(conn, worker, seen)).refusal is None
    assert [one.id for one in await claim(conn, worker)] == [due]


async def test_a_copy_that_has_all_is_not_sent_from_by_itself(conn: Conn) -> None:
    """Mail may be sent from the database that it is a copy of."""
    worker, _ = await at_work(conn)
    seen = json.loads((await beat(conn, worker, None)).seen or "")
    await change(conn, COPIED)
    await restart_session(conn)
    memory = json.dumps(seen | {"identity": "7/00000001/5/6"})

    assert (await beat(conn, worker, memory, marks=1)).refusal is not None
    await change(
        conn, "UPDATE mailqueue.server_identity SET changed_at = changed_at - interval '1 h'"
    )
    assert (await beat(conn, worker, memory, marks=1)).refusal is not None
    assert await claim(conn, worker) == []


async def test_a_worker_with_lost_marks_stops_all_on_a_promoted_standby(conn: Conn) -> None:
    worker, _ = await at_work(conn)
    other = await make.worker(conn)
    other_seen = json.loads((await beat(conn, other, None)).seen or "")
    seen = await seen_before(conn, worker)
    await beat(conn, other, json.dumps(other_seen | {"identity": await earlier(conn)}))

    answer = await beat(conn, worker, seen, marks=1000)

    assert "gone back" in str(answer.refusal)
    await change(
        conn, "UPDATE mailqueue.server_identity SET changed_at = changed_at - interval '1 h'"
    )
    assert await claim(conn, other) == []
    assert "gone back" in str((await beat(conn, other, None)).refusal)


async def test_a_heartbeat_keeps_what_it_has_seen_and_a_parent_too(
    database: DatabaseSettings,
) -> None:
    link = Link(database, "test/beat")
    heartbeat = Heartbeat(link, kind="send", launch_id=uuid4())
    memory = ServerMemory()
    try:
        await heartbeat.start(asyncio.Event())
        await heartbeat.beat()
        await turn(link, memory)
        async with opened(database, 1) as (conn,):
            assert json.loads(memory.seen or "")["progress"] == await progress(conn)
            heartbeat.marks = lambda: 1  # acknowledged, and no longer in the database
            await heartbeat.beat()
            assert "gone back" in str((await see(conn)).refusal)
            assert await actions(conn) == ["queue.gone_back"]
            await change(conn, "DELETE FROM mailqueue.workers")
            await change(conn, "UPDATE mailqueue.server_identity SET gone_back_at = NULL")
            await turn(link, memory)
            assert "gone back" in str((await see(conn)).refusal), "its parent knew it as well"
        with pytest.raises(LeaseLost):
            await heartbeat.beat()
    finally:
        await link.close()
