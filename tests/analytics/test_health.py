"""The check of counting warns of mail and events that are not counted within ten seconds."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.events.sent_mail import left

pytestmark = pytest.mark.anyio


async def check(conn: Conn) -> tuple[str, str, str | None]:
    """Return state, finding and fix of the check."""
    query = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'stats'"
    [(state, found, fix)] = await make.rows(conn, query)
    return state, found, fix


async def finished(conn: Conn, ago: str) -> None:
    """Let the only mail have ended so long ago, after what is counted."""
    await conn.execute("UPDATE mailqueue.stats_state SET folded_to = now() - interval '1 day'")
    query = "UPDATE mailqueue.email_history SET finished_at = now() - %s::interval"
    await conn.execute(query, [ago])


async def test_only_what_waits_for_more_than_ten_seconds_is_late(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.stats_state SET folded_to = now() - interval '1 day'")
    idle = await check(conn)
    await left(conn)
    await finished(conn, "-1 hour")
    recent = await check(conn)
    await finished(conn, "11 seconds")
    late = await check(conn)

    assert (idle[0], recent[0], late[0]) == ("ok", "ok", "warning")
    assert "no worker counts them" in late[1]
    assert late[2] == "run mailqueue worker stats, or mailqueue up"


async def test_where_a_worker_counts_the_row_that_says_why_is_named(conn: Conn) -> None:
    await left(conn)
    await finished(conn, "11 seconds")
    await make.worker(conn, kind="other", queues=["stats"])
    state_id = await make.scalar(conn, "SELECT id FROM mailqueue.stats_state")

    state, found, fix = await check(conn)

    assert (state, fix) == ("warning", f"see mailqueue why {state_id}")
    assert "much was written at once" in found
