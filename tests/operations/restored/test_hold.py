"""After a restore from backup, mail that may have been sent since is not sent by itself."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import SILENCE, claim, counted, difference, mark, opened, until_waiting

pytestmark = pytest.mark.anyio

BACKUP = timedelta(hours=1)
"""Age of the backup."""


async def restored(conn: Conn, *more: object, ago: timedelta = BACKUP) -> tuple[Any, ...]:
    places = ", ".join(["%s"] * (1 + len(more)))
    [found] = await make.rows(
        conn,
        f"SELECT * FROM mailqueue.hold_restored({places})",
        datetime.now(UTC) - ago,
        *more,
    )
    return found


async def as_of_the_backup(conn: Conn) -> None:
    """Set the last heartbeat of all workers to the time of the backup."""
    await conn.execute("UPDATE mailqueue.workers SET beat_at = beat_at - %s", (BACKUP,))


async def test_what_was_due_is_held_and_what_was_not_stays(conn: Conn) -> None:
    await make.sender_account(conn)
    due = await make.queued_email(conn)
    future = await make.queued_email(conn, run_at=datetime.now(UTC) + timedelta(hours=1))

    held, _, _ = await restored(conn)

    assert held == 1
    assert await make.status_of(conn, due) == "held"
    assert await make.status_of(conn, future) == "pending"
    reason = await make.scalar(conn, "SELECT reason FROM mailqueue.held")
    assert reason.startswith("restored: may have been sent between ")
    assert await claim(conn, await make.worker(conn)) == []
    assert await difference(conn) == 0


async def test_what_workers_of_the_backup_held_is_taken_from_them_first(conn: Conn) -> None:
    account = await make.sender_account(conn)
    for delivery in ("resend", "resend", "hold"):
        await make.queued_email(conn, delivery=delivery)
    worker = await make.worker(conn)
    _, second, third = await claim(conn, worker)
    await mark(conn, worker, [second, third])
    await as_of_the_backup(conn)

    held, _, _ = await restored(conn)

    assert held == 2, "the third is held by its own policy"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.held") == 3
    assert (await counted(conn, account)).reserved == 0


async def test_it_refuses_while_a_worker_runs(conn: Conn) -> None:
    await make.queued_email(conn)
    worker = await make.worker(conn, host="mail-1")

    for is_dry in (True, False):
        with pytest.raises(errors.ObjectInUse, match=r"1 worker.*mail-1.*stop them first"):
            async with conn.transaction():
                await restored(conn, is_dry)

    await make.silent(conn, worker, since=SILENCE * 2)
    assert (await restored(conn))[0] == 1


async def test_a_worker_that_starts_meanwhile_waits_until_it_is_done(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (operator, starting, watcher):
        await make.sender_account(operator)
        await make.queued_email(operator)
        async with operator.transaction():
            await restored(operator)
            worker = asyncio.create_task(make.worker(starting))
            await until_waiting(watcher, starting)
        assert await claim(starting, await worker) == []


async def test_a_dry_run_counts_and_changes_nothing(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    await claim(conn, worker, limit=1)
    await as_of_the_backup(conn)

    held, operation, _ = await restored(conn, True)

    assert (held, operation) == (3, None)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.held") == 0
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.audit_events") == 0


async def test_it_goes_on_in_batches_and_counts_in_one_audit_row(conn: Conn) -> None:
    await make.queued_emails(conn, 5)

    first = await restored(conn, False, 2)
    second = await restored(conn, False, 2, first[1], first[2])
    third = await restored(conn, False, 2, second[1], second[2])

    assert [each[0] for each in (first, second, third)] == [2, 2, 1]
    assert third[2] is None
    [(action, emails)] = await make.rows(
        conn, "SELECT action, detail ->> 'emails' FROM mailqueue.audit_events"
    )
    assert (action, emails) == ("queue.restored", "5")


async def test_mail_of_all_projects_is_held(conn: Conn) -> None:
    await make.project(conn, "shop")
    await make.queued_email(conn, project="shop")
    await make.queued_email(conn)

    assert (await restored(conn))[0] == 2


async def test_numbers_of_the_old_server_do_not_hide_new_mail(conn: Conn) -> None:
    """Transaction ids of the server that was dumped may be far ahead of this server's."""
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await claim(conn, worker)
    await as_of_the_backup(conn)
    await conn.execute("UPDATE mailqueue.lane_gather SET signal_floor = '99999999999'")

    await restored(conn)

    new = await make.queued_email(conn)
    assert [each.id for each in await claim(conn, await make.worker(conn))] == [new]


async def test_a_moment_to_come_is_refused(conn: Conn) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="from: the moment of the backup"):
        await restored(conn, ago=-BACKUP)
