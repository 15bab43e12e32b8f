"""The trap is an account of every project, also of later ones."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.senders.trap_account import point_to_trap
from tests import make

pytestmark = pytest.mark.anyio

TRAPS = (
    "SELECT a.smtp_port, a.status FROM mailqueue.sender_accounts AS a"
    " JOIN mailqueue.projects AS p ON p.id = a.project_id"
    " WHERE a.provider = 'trap' AND p.name = 'later'"
)


async def test_a_project_made_while_the_trap_runs_knows_it_at_once(conn: Conn) -> None:
    await point_to_trap(conn, port=2525)

    await conn.execute("INSERT INTO mailqueue.projects (name) VALUES ('later')")

    assert await make.rows(conn, TRAPS) == [(2525, "active")]


async def test_a_project_made_while_the_trap_is_off_waits_for_it(conn: Conn) -> None:
    await point_to_trap(conn, port=2525)
    await point_to_trap(conn, port=None)

    await conn.execute("INSERT INTO mailqueue.projects (name) VALUES ('later')")

    assert await make.rows(conn, TRAPS) == [(2525, "paused")]


async def test_without_a_trap_a_project_gets_none(conn: Conn) -> None:
    await conn.execute("INSERT INTO mailqueue.projects (name) VALUES ('later')")

    assert await make.rows(conn, TRAPS) == []
