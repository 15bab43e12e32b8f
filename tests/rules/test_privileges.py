"""The rights of every role on every object of the schema, compared with the list beside this file.

After a wanted change run this file as a program with the connection string of a migrated database:
`python tests/rules/test_privileges.py DSN > tests/rules/privileges.txt`, and read the difference.
"""

import asyncio
import sys
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).with_name("privileges.txt")

LISTED = Path(__file__).with_name("privileges.sql").read_text("utf-8")


async def listed(conn: Conn) -> str:
    """Return the list as the golden file holds it."""
    return "".join(f"{row[2]}\n" for row in await make.rows(conn, LISTED))


async def test_every_role_has_exactly_the_listed_rights(conn: Conn) -> None:
    assert (await listed(conn)).splitlines() == GOLDEN.read_text("utf-8").splitlines()


async def test_an_unlisted_object_is_noticed(conn: Conn) -> None:
    await conn.execute("SET ROLE mailqueue_owner")
    await conn.execute("CREATE TABLE mailqueue.unlisted (id integer)")
    await conn.execute("CREATE FUNCTION mailqueue.unlisted() RETURNS integer RETURN 1")

    added = set((await listed(conn)).splitlines()) - set(GOLDEN.read_text("utf-8").splitlines())

    assert added == {"table unlisted", "function unlisted()"}, "new objects give nobody a right"


async def test_a_role_of_ours_is_never_more_than_its_name_says(conn: Conn) -> None:
    mighty = await make.rows(
        conn,
        "SELECT rolname FROM pg_roles WHERE rolname IN ('mailqueue_owner', 'mailqueue_migrator',"
        " 'mailqueue_producer', 'mailqueue_worker', 'mailqueue_api', 'mailqueue_tracking',"
        " 'mailqueue_dba') AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolcanlogin"
        " OR rolreplication OR rolbypassrls)",
    )

    assert mighty == []


async def _print(dsn: str) -> None:
    async with connect(DatabaseSettings(Secret(dsn))) as conn:
        sys.stdout.write(await listed(conn))


if __name__ == "__main__":
    asyncio.run(_print(sys.argv[1]))
