"""Extremes of every column go into the archive and come back byte for byte."""

from collections import defaultdict
from collections.abc import Mapping

import pytest
from psycopg import Error

from mailqueue.db.fetch import Conn
from mailqueue.maintenance import partitions
from mailqueue.maintenance.archive import manifest
from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.archive.manifest import FileFilter
from mailqueue.maintenance.context import MaintenanceContext
from tests import make
from tests.maintenance import stored_mail
from tests.maintenance.old_mail import aged, sent
from tests.maintenance.test_back import WEEK
from tests.queue.extremes.columns import Column, columns

pytestmark = [pytest.mark.anyio, pytest.mark.deep]

MAILS = 160
"""More than a table has extremes."""
JSON_NULL = "'null'"
"""Left out: the format of the archive has one null. Accepting an email stores none of JSON's."""
WITHOUT: Mapping[str, set[str]] = {
    "email_history": {"finished_at"},
    "send_logs": {"sent_at"},
    "email_events": {"occurred_at"},
    "email_contents": {"created_on"},
    "email_recipients": set(),
}
"""Columns that say in which partition a row is: none is made for an extreme."""


async def rows_of(conn: Conn) -> dict[str, list[str]]:
    """Return every row of the archived tables as PostgreSQL writes it, in order."""
    found = {}
    for table in stored_mail.TABLES:
        query = f'SELECT t::text FROM mailqueue.{table} AS t ORDER BY t::text COLLATE "C"'
        found[table] = [row[0] for row in await make.rows(conn, query)]
    return found


async def put(conn: Conn, column: Column, value: str, row: tuple[int, str]) -> bool:
    """Write an extreme into a row; return False where the schema refuses it."""
    statement = (
        f"UPDATE mailqueue.{column.table} SET {column.name} = {value}"
        " WHERE tableoid = %s AND ctid = %s::tid"
    )
    try:
        async with conn.transaction():
            await conn.execute(statement.encode(), row)
    except Error:
        return False
    return True


async def filled(conn: Conn) -> dict[str, set[str]]:
    """Put each extreme into a row of its own; return the columns that took one, by table."""
    found: dict[str, set[str]] = defaultdict(set)
    known = await columns(conn)
    for table in stored_mail.TABLES:
        query = f"SELECT tableoid::integer, ctid::text FROM mailqueue.{table}"
        rows: list[tuple[int, str]] = []
        for column in known[table]:
            for value in column.values:
                if value == JSON_NULL:
                    continue
                rows = rows or await make.rows(conn, query)  # each row is filled again then
                if await put(conn, column, value, rows.pop()):
                    found[table].add(column.name)
    return found


async def test_extremes_of_every_column_come_back_as_they_were(desk: MaintenanceContext) -> None:
    conn = desk.conn
    for _ in range(2):
        await make.queued_email(conn, cc=[f"copy{number}@example.com" for number in range(45)])
    await sent(conn, MAILS)
    await aged(conn)
    took = await filled(conn)
    before = await rows_of(conn)
    report = await archive_task.run(desk)
    left = await stored_mail.in_tables(conn)
    await partitions.run(desk)
    async for _ in manifest.bring_back(desk, FileFilter(), keep=WEEK):
        pass
    after = await rows_of(conn)

    known = await columns(conn)
    assert report.needs == ()
    assert sum(left.values()) < 20, "the others were in the archive"
    assert {
        table: {column.name for column in known[table]} - took[table]
        for table in stored_mail.TABLES
    } == WITHOUT
    assert after == before
