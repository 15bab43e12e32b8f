"""After `mailqueue restored`, mail is sent from a restored database."""

import json

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.claim.steps import claim
from tests.operations.restored.seeing import COPIED, at_work, change, restart_session, see

pytestmark = pytest.mark.anyio


async def test_what_a_person_declares_ends_it(conn: Conn) -> None:
    worker, due = await at_work(conn)
    seen = json.loads((await see(conn)).seen or "")
    ahead = json.dumps(seen | {"progress": seen["progress"] + 1_000})
    await see(conn, ahead)
    await make.silent(conn, worker)

    await change(conn, "SELECT mailqueue.hold_restored(now() - interval '1 h')")

    assert (await see(conn, ahead)).refusal is None, "processes that saw it before accept it"
    new = await make.queued_email(conn)
    assert [one.id for one in await claim(conn, await make.worker(conn))] == [new]
    assert await make.status_of(conn, due) == "held"
    later = json.dumps(
        json.loads((await see(conn)).seen or "") | {"declared_at": "9999-01-01T00:00:00+00:00"}
    )
    assert (await see(conn, later)).refusal, "a backup from before that"


async def test_doctor_says_when_the_last_restore_or_drill_was(conn: Conn) -> None:
    query = "SELECT state, found FROM mailqueue.health WHERE name = 'restored database'"
    shown = "SELECT mailqueue.shown(declared_at) FROM mailqueue.server_identity"
    worker, _ = await at_work(conn)
    ((state, never),) = await make.rows(conn, query)
    assert state == "ok"
    assert never.endswith("; it was never restored, nor was that tried")

    await make.silent(conn, worker)
    await change(conn, "SELECT mailqueue.hold_restored(now() - interval '1 h')")

    ((state, found),) = await make.rows(conn, query)
    assert state == "ok"
    assert found.endswith(f"; the last restore or drill was at {await make.scalar(conn, shown)}")


async def test_nothing_is_held_where_nothing_was_lost(conn: Conn) -> None:
    worker, due = await at_work(conn)
    await change(conn, COPIED)
    await restart_session(conn)
    await make.silent(conn, worker)
    assert (await see(conn)).refusal

    await change(conn, "SELECT mailqueue.accept_restored('ann')")

    assert (await see(conn)).refusal is None
    assert [one.id for one in await claim(conn, await make.worker(conn))] == [due]


async def test_numbers_of_claims_are_not_given_twice_after_a_restore(conn: Conn) -> None:
    worker, _ = await at_work(conn)
    await make.silent(conn, worker)
    before = await make.scalar(conn, "SELECT last_value FROM mailqueue.claim_no_seq")

    await change(conn, "SELECT mailqueue.hold_restored(now() - interval '1 h')")

    after = await make.scalar(conn, "SELECT last_value FROM mailqueue.claim_no_seq")
    assert after >= before + 1_000_000
