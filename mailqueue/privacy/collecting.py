"""Collect what is stored about a person as lines of JSON, for a file that the person gets."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

from mailqueue.core.address import parse_address
from mailqueue.core.json.writing import write_json
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.privacy.exporting import export_person
from mailqueue.privacy.model import ProjectName
from mailqueue.settings.environment import DatabaseSettings

_NOT_READ = "records in files of the archive are not in this file: ask for them"


async def collect(
    database: DatabaseSettings, project_id: UUID, project: str, address: str
) -> list[str]:
    """Return the rows of a project's tables that name an address: each has table and record.

    An email has its content, events and attempts with it, under the table `mails`.

    Raises:
        InvalidAddress: the text is not an address.
    """
    spellings = parse_address(address).spellings
    async with connect(database) as conn:
        found = await export_person(
            partial(_transaction, conn), ProjectName(project_id, project), spellings
        )
    rows = [_row("mails", mail) for mail in found["mails"]]
    rows += [_row(table, record) for table, some in found["records"].items() for record in some]
    if found["archives"]:
        rows.append(_row("archives", {"note": _NOT_READ}))
    return rows


@asynccontextmanager
async def _transaction(conn: Conn) -> AsyncIterator[Conn]:
    async with conn.transaction():
        yield conn


def _row(table: str, record: Mapping[str, object]) -> str:
    return write_json({"table": table, "record": record}).decode()
