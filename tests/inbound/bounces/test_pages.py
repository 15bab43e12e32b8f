"""A page of a project's bounce mail costs what is in it, however much there is beside."""

from uuid import UUID

import pytest

from mailqueue.api.compat.postmark.received import store
from mailqueue.api.compat.postmark.received.store import BounceMailFilter
from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio

MAILS = 1_500
PAGE = 10
READ = (
    "SELECT pg_stat_get_xact_tuples_fetched(t) + pg_stat_get_xact_tuples_returned(t)"
    " FROM (SELECT 'mailqueue.inbound_events'::regclass) AS o(t)"
)
"""Rows and entries of indexes that this transaction has read."""


async def filled(conn: Conn) -> tuple[UUID, list[UUID]]:
    """Insert bounce mail among reports of providers; return its ids, newest first."""
    project = await make.project_named(conn)
    await conn.execute(
        "INSERT INTO mailqueue.inbound_events (project_id, provider, body, status, finished_at)"
        " SELECT %s, CASE n %% 3 WHEN 0 THEN 'smtp' ELSE 'ses' END, 'x', 'processed', now()"
        " FROM generate_series(1, %s) AS n",
        (project, 3 * MAILS),
    )
    found = await make.rows(
        conn, "SELECT id FROM mailqueue.inbound_events WHERE provider = 'smtp' ORDER BY id DESC"
    )
    return project, [row[0] for row in found]


@pytest.mark.parametrize("is_analyzed", [True, False])
async def test_a_page_reads_its_rows_and_no_others(conn: Conn, is_analyzed: bool) -> None:
    project, ids = await filled(conn)
    if is_analyzed:
        await conn.execute("ANALYZE mailqueue.inbound_events")
    wanted = BounceMailFilter()
    middle = ids[MAILS // 2]
    read = []
    async with conn.transaction():
        before = await make.scalar(conn, READ)
        first = await store.list_mail(conn, project, wanted, limit=PAGE, offset=0)
        read.append(await make.scalar(conn, READ) - before)
        one = await store.find_mail(conn, project, middle)
        read.append(await make.scalar(conn, READ) - before)
        older = await store.list_mail_beside(conn, project, after=middle, before=None, limit=PAGE)
        newer = await store.list_mail_beside(conn, project, after=None, before=middle, limit=PAGE)
        read.append(await make.scalar(conn, READ) - before)

    at = MAILS // 2
    assert [each.id for each in first] == ids[:PAGE]
    assert one is not None
    assert one.id == middle
    assert [each.id for each in older] == ids[at + 1 : at + 1 + PAGE]
    assert [each.id for each in newer] == ids[at - PAGE : at][::-1]
    assert read[-1] <= 4 * (3 * PAGE + 1), read
    assert await store.count_mail(conn, project, wanted) == MAILS


async def test_offsets_states_and_other_projects_select_what_they_say(conn: Conn) -> None:
    project, ids = await filled(conn)
    other = await make.project(conn, "other")
    await conn.execute(
        "UPDATE mailqueue.inbound_events SET status = 'failed' WHERE id = ANY (%s)", (ids[5:8],)
    )
    failed = BounceMailFilter(state="failed")

    page = await store.list_mail(conn, project, BounceMailFilter(), limit=3, offset=20)
    assert [each.id for each in page] == ids[20:23]
    listed = await store.list_mail(conn, project, failed, limit=PAGE, offset=1)
    assert [each.id for each in listed] == ids[6:8]
    assert await store.count_mail(conn, project, failed) == 3
    assert await store.list_mail(conn, other, BounceMailFilter(), limit=PAGE, offset=0) == []
    assert await store.find_mail(conn, other, ids[0]) is None
