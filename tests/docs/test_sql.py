"""Every statement in the documentation runs with the rights of its reader."""

import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from psycopg import AsyncConnection, sql

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.conftest import ROLE, Server
from tests.docs.reading import Block, arguments_of, blocks, shell_lines
from tests.docs.sample import fill

pytestmark = pytest.mark.anyio

# Whom a page speaks to; a block that needs more says so in its first line.
READER_BY_PAGE = {
    "docs/sending.md": "mailqueue_producer",
    "docs/outboxes.md": "mailqueue_producer",
    "docs/dba-guide.md": "mailqueue_dba",
}
AS_OWNER = "-- As the owner:"
MAY_BE_EMPTY = "-- No rows is good"
_TRANSACTION = re.compile(r"^(BEGIN|COMMIT);$", re.MULTILINE)
_SQL = blocks("sql")
_READING = [block for block in _SQL if block.page == "docs/dba-guide.md"]


def in_shell() -> list[tuple[str, str]]:
    """Return every statement passed to psql in a shell block, with its position."""
    return [
        (block.where, arguments[2])
        for block in blocks("sh")
        for words in shell_lines(block.text)
        if (arguments := arguments_of(words)) is not None
        and arguments[:2] == ["psql", "-c"]
        and not arguments[2].startswith("\\")
    ]


@pytest.fixture
async def sample(server: Server, shared_db: str) -> AsyncIterator[Conn]:
    """A superuser's connection to the sample, whose transaction is rolled back."""
    url = server.superuser_url(urlsplit(shared_db).path[1:])
    async with (
        connect(DatabaseSettings(Secret(url)), application_name="test") as conn,
        conn.transaction(force_rollback=True),
    ):
        await _become(conn, ROLE)
        await fill(conn)
        yield conn


async def _become(conn: Conn, role: str) -> None:
    await conn.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))


async def results(conn: AsyncConnection[tuple[object, ...]], text: str) -> list[int]:
    """Run statements; return the number of rows of each that gives rows."""
    cursor = await conn.execute(_TRANSACTION.sub("", text).encode())
    counts = [cursor.rowcount] if cursor.description else []
    while cursor.nextset():
        counts += [cursor.rowcount] if cursor.description else []
    return counts


@pytest.mark.parametrize("block", _SQL, ids=lambda block: block.where)
async def test_every_statement_runs_with_its_readers_rights(sample: Conn, block: Block) -> None:
    is_owners = block.text.startswith(AS_OWNER)
    await _become(sample, ROLE if is_owners else READER_BY_PAGE.get(block.page, ROLE))

    await results(sample, block.text)


@pytest.mark.parametrize("block", _READING, ids=lambda block: block.where)
async def test_every_question_of_the_dba_guide_finds_something(sample: Conn, block: Block) -> None:
    counts = await results(sample, block.text)

    if block.text.startswith(MAY_BE_EMPTY):
        assert counts == [0] * len(counts)
    else:
        assert all(counts)


@pytest.mark.parametrize("text", [pytest.param(text, id=place) for place, text in in_shell()])
async def test_every_statement_given_to_psql_runs(sample: Conn, text: str) -> None:
    await results(sample, text)


def test_the_documentation_shows_statements() -> None:
    assert len(_SQL) > 20
    assert in_shell()
