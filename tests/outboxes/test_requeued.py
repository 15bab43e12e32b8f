"""Ordered mail that stopped the mail behind it, and is dealt with by a person."""

import asyncio

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, opened, settle, until_waiting
from tests.outboxes.ordered import drained, ordered

pytestmark = pytest.mark.anyio
GO_ON = Jsonb({"ordering_on_failure": "continue"})


async def suppress(conn: Conn, address: str) -> None:
    await conn.execute(
        b"INSERT INTO mailqueue.suppressions (project_id, address, reason)"
        b" SELECT id, %s, 'hard_bounce' FROM mailqueue.projects WHERE name = 'default'",
        [address],
    )


async def test_a_failed_mail_that_is_suppressed_when_queued_again_stops_no_other(
    conn: Conn,
) -> None:
    await ordered(conn, "project", on_failure="block")
    worker = await make.worker(conn)
    project = await make.project_named(conn)
    first = await make.queued_email(conn, recipient_email="ann@example.com")
    second = await make.queued_email(conn, recipient_email="bob@example.com")
    failed = await claim(conn, worker)
    await settle(conn, failed, Ending.FAILED, reason="550", log=LogStatus.REJECTED)
    await suppress(conn, "ann@example.com")

    await make.rows(conn, "SELECT * FROM mailqueue.requeue_emails(%s, %s)", project, [first])

    assert await drained(conn, worker) == [second]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_order") == 0


async def test_a_failure_that_commits_beside_the_change_to_continue_stops_no_other(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (changing, failing, conn):
        await ordered(conn, "project", on_failure="block")
        worker = await make.worker(conn)
        _, second = [await make.queued_email(conn) for _ in range(2)]
        failed = await claim(conn, worker)
        async with asyncio.TaskGroup() as tasks, changing.transaction():
            await changing.execute(b"SELECT mailqueue.change_project('default', %s)", [GO_ON])
            tasks.create_task(
                settle(failing, failed, Ending.FAILED, reason="550", log=LogStatus.REJECTED)
            )
            await until_waiting(conn, failing)

        assert await drained(conn, worker) == [second]
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_order") == 0
