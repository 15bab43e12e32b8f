"""Counts equal a recount, whatever the order of commits and however often counting is killed."""

import asyncio
import random
import signal
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics import recount, writing
from tests.queue.kernel.pools import deaths, end, pool_of, prepare, processes, until

pytestmark = pytest.mark.anyio
SESSIONS = 8
PROJECTS = ("default", "shop", "depot")
SHORT = 20_000
LONG = 5_000_000


_VERSION = """
SELECT mailqueue.publish_template(mailqueue.add_template_version(%s, jsonb_build_object(
    'texts', jsonb_build_array(jsonb_build_object(
        'language', 'en', 'subject', 'Hello', 'html_body', '<p>Hello</p>', 'text_body', 'Hello')))))
"""


async def furnish(conn: Conn) -> None:
    """Create projects with accounts of several providers, templates and a suppressed address."""
    await conn.execute("UPDATE mailqueue.stats_state SET run_at = now()")
    for name in PROJECTS:
        project = await (
            make.project_named(conn)
            if name == "default"
            else make.project(conn, name, require_postal_address=False)
        )
        for number, provider in enumerate(("smtp", "smtp", "sendgrid")):
            columns = {} if provider == "smtp" else {"smtp_host": None, "smtp_port": None}
            await make.sender_account(
                conn, project_id=project, name=f"a{number}", provider=provider, **columns
            )
        for slug in writing.TEMPLATES:
            template = await make.template(conn, project, slug=slug)
            await make.rows(conn, _VERSION, template)
        await make.rows(
            conn,
            "SELECT mailqueue.suppress(%s, 'blocked@example.com', '', 'manual', NULL, NULL,"
            " 'manual')",
            project,
        )


async def is_caught_up(conn: Conn, since: datetime) -> bool:
    query = (
        "SELECT s.folded_to > %s AND s.rebuilt_from IS NULL"
        " AND NOT EXISTS (SELECT FROM mailqueue.stats_corrections) FROM mailqueue.stats_state AS s"
    )
    return bool(await make.scalar(conn, query, since))


async def state(conn: Conn) -> object:
    return await make.rows(
        conn,
        "SELECT s.*, (SELECT count(*) FROM mailqueue.stats_corrections)"
        " FROM mailqueue.stats_state AS s",
    )


async def kill_now_and_then(conn: Conn, chance: random.Random) -> None:
    """Kill the processes that count, again and again."""
    while True:
        await asyncio.sleep(chance.uniform(0.2, 1.5))
        for pid in await processes(conn):
            end(pid, signal.SIGKILL)


async def compare(conn: Conn) -> None:
    """Compare every count with a recount, and with what the database's own comparison says."""
    for table, minutes in (("stats_minutes", 1), ("stats_quarters", 15)):
        counted = await recount.stored(conn, table)
        expected = await recount.recount(conn, minutes=minutes)
        assert recount.differences(counted, expected) == []
        assert len(counted) > 1000
    now = datetime.now(UTC)
    query = "SELECT counts, differences, metric FROM mailqueue.verify_stats(%s, %s, 5)"
    found = await make.rows(conn, query, now - timedelta(days=2), now + timedelta(hours=1))
    assert found[0][0] > 1000
    assert found[0][1:] == (0, None)


async def run(
    database: DatabaseSettings, folder: Path, monkeypatch: pytest.MonkeyPatch, emails: int
) -> None:
    prepare(monkeypatch, database, folder)
    async with (
        connect(database) as conn,
        connect(database) as watcher,
        connect(database) as reader,
        connect(database) as late,
    ):
        await furnish(conn)
        async with pool_of(["stats"], folder):
            killing = asyncio.create_task(kill_now_and_then(watcher, random.Random(1)))
            async with reader.transaction():
                await reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                await make.rows(reader, "SELECT count(*) FROM mailqueue.email_history")
                share = emails // SESSIONS
                await asyncio.gather(
                    *(writing.write(database, n, share, PROJECTS, seed=7) for n in range(SESSIONS))
                )
                async with late.transaction():  # its rows are older than all that commits meanwhile
                    await make.queued_email(late, recipient_email="blocked@example.com")
                    await writing.write(database, 99, 100, PROJECTS, seed=7)
                    await asyncio.sleep(0.5)
                killing.cancel()
                with suppress(asyncio.CancelledError):
                    await killing
                over = await make.scalar(conn, "SELECT clock_timestamp()")
                await until(lambda: is_caught_up(conn, over), lambda: state(conn))
        assert await deaths(conn) > 0
        assert (
            await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_history") > emails * 0.8
        )
        await compare(conn)


async def test_counts_equal_a_recount_of_mail_written_in_any_order_while_counting_is_killed(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run(database, tmp_path, monkeypatch, SHORT)


@pytest.mark.soak
async def test_counts_equal_a_recount_of_five_million_emails(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run(database, tmp_path, monkeypatch, LONG)
