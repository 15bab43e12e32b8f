"""Ordered mail that failed stops the mail behind it, where its project says so."""

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.outboxes.ordered import drained, ids, ordered, why

pytestmark = pytest.mark.anyio


async def test_with_block_a_failed_mail_stops_the_others_until_it_is_sent(conn: Conn) -> None:
    await ordered(conn, "project", on_failure="block")
    worker = await make.worker(conn)
    project = await make.project_named(conn)
    first, second = [await make.queued_email(conn) for _ in range(2)]
    failed = await claim(conn, worker)
    await settle(conn, failed, Ending.FAILED, reason="550", log=LogStatus.REJECTED)

    assert await claim(conn, worker) == []
    health = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'ordered mail'"
    [(state, found, fix)] = await make.rows(conn, health)
    assert (state, found) == (
        "warning",
        "1 mail failed or expired in order, and the mail behind waits: project default",
    )
    assert "--ordering-on-failure continue" in fix
    told = await why(conn, second)
    assert told.startswith(
        f"waits in order behind email {first}, which is failed and blocks the others; "
    )
    assert f"mailqueue email requeue {first}" in told
    assert "mailqueue project change default --ordering-on-failure continue" in told

    await make.rows(conn, "SELECT * FROM mailqueue.requeue_emails(%s, %s)", project, [first])
    assert await drained(conn, worker) == [first, second]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_order") == 0
    assert [row[0] for row in await make.rows(conn, health)] == ["ok"]


async def test_with_block_the_others_go_on_once_the_project_continues(conn: Conn) -> None:
    await ordered(conn, "project", on_failure="block")
    worker = await make.worker(conn)
    _, second = [await make.queued_email(conn) for _ in range(2)]
    failed = await claim(conn, worker)
    await settle(conn, failed, Ending.EXPIRED, reason="too late")
    assert await claim(conn, worker) == []

    go_on = Jsonb({"ordering_on_failure": "continue"})
    await conn.execute(b"SELECT mailqueue.change_project('default', %s)", [go_on])

    assert ids(await claim(conn, worker)) == [second]


async def test_with_block_a_cancelled_or_suppressed_mail_does_not_stop_the_others(
    conn: Conn,
) -> None:
    await ordered(conn, "project", on_failure="block")
    worker = await make.worker(conn)
    project = await make.project_named(conn)
    mails = [await make.queued_email(conn) for _ in range(3)]
    await make.rows(conn, "SELECT * FROM mailqueue.cancel_emails(%s, %s)", project, [mails[0]])
    await settle(conn, await claim(conn, worker), Ending.SUPPRESSED, reason="listed")

    assert ids(await claim(conn, worker)) == [mails[2]]
