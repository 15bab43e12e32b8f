"""The list of one status reads an index, not every event of the project."""

import re

import pytest
from psycopg import sql

from mailqueue.contract.automation.timed_events import TimedEventStatus
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import timed_events as timed_events_sql
from mailqueue.timed_events import events as verbs
from mailqueue.timed_events.model import TimedEventFilter
from tests import make

pytestmark = pytest.mark.anyio
ADD = """
    INSERT INTO mailqueue.timed_events (project_id, kind, local_at, time_zone, zone_release, due_at,
        run_at, idempotency_key, template, recipient, created_by, status, finished_at)
    SELECT %(project)s, 'renewal', now() + interval '1 day', 'UTC', '2026b',
           now() + interval '1 day', now() + interval '1 day', %(status)s || n, 'welcome',
           'ann@example.com', 'tests', %(status)s,
           CASE WHEN %(status)s IN ('failed', 'completed', 'cancelled') THEN now() END
      FROM generate_series(1, %(count)s) AS n
"""


async def add(conn: Conn, status: str, count: int) -> None:
    values = {"project": await make.project_named(conn), "status": status, "count": count}
    await conn.execute(ADD.encode(), values)


async def fill(conn: Conn) -> None:
    """Add a few events of each status below two thousand that are completed."""
    for status in ("failed", "cancelled", "delivering", "pending"):
        await add(conn, status, 2)
    await add(conn, "completed", 2_000)
    await conn.execute("ANALYZE mailqueue.timed_events")


@pytest.mark.parametrize(("status", "count"), [("FAILED", 4), ("PROCESSING", 2), ("PENDING", 2)])
async def test_the_events_of_a_status_are_listed_newest_first(
    conn: Conn, status: str, count: int
) -> None:
    project = await make.project_named(conn)
    await fill(conn)
    filters = TimedEventFilter(status=TimedEventStatus(status))

    page = await verbs.list_page(conn, project, filters=filters, before=None, limit=50)

    ids = [one.id for one in page.data]
    assert {one.status for one in page.data} == {status}
    assert (len(ids), ids) == (count, sorted(ids, reverse=True))


async def test_the_list_of_a_status_reads_its_index(conn: Conn) -> None:
    project = await make.project_named(conn)
    await fill(conn)
    text = timed_events_sql.LIST_TIMED_EVENTS_OF_STATUS.query.decode()
    names = dict.fromkeys(re.findall(r"%\((\w+)\)s", text))  # in the order of the parameters
    types = {"limit": "bigint", "kind": "text", "status": "text"}
    types |= {"since": "timestamptz", "until": "timestamptz"}
    for number, name in enumerate(names, 1):
        text = text.replace(f"%({name})s", f"${number}")
    await conn.execute(
        sql.SQL("PREPARE listed ({}) AS ").format(
            sql.SQL(", ").join(sql.SQL(types.get(name, "uuid")) for name in names)
        )
        + sql.SQL(text)
    )
    values = {"project_id": str(project), "status": "FAILED", "limit": 51}
    asked = sql.SQL(", ").join(sql.Literal(values.get(name)) for name in names)
    for _ in range(10):  # then PostgreSQL has chosen between a plan for each status and one for all
        await conn.execute(sql.SQL("EXECUTE listed ({})").format(asked))

    found = await conn.execute(sql.SQL("EXPLAIN EXECUTE listed ({})").format(asked))
    plan = "\n".join(row[0] for row in await found.fetchall())

    assert "timed_events_status_idx" in plan, plan
