"""Every statement in the documentation runs with the rights of its reader."""

import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from psycopg import AsyncConnection, Error, sql

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
_TRANSACTION = re.compile(r"^(BEGIN|COMMIT|ROLLBACK);$", re.MULTILINE)
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


async def outcome(sample: Conn, role: str, text: str) -> list[int] | str:
    """Return the rows of statements run with these rights, or their error; undo what they did."""
    try:
        async with sample.transaction(force_rollback=True):
            await _become(sample, role)
            return await results(sample, text)
    except Error as error:
        return str(error)


def reader_of(block: Block) -> str:
    is_owners = block.text.startswith(AS_OWNER)
    return ROLE if is_owners else READER_BY_PAGE.get(block.page, ROLE)


def is_answered(block: Block, counts: list[int]) -> bool:
    """Return whether questions found rows, or none where none is good."""
    return not any(counts) if block.text.startswith(MAY_BE_EMPTY) else all(counts)


async def test_every_statement_runs_with_its_readers_rights(sample: Conn) -> None:
    faults = [
        f"{block.where}: {found}"
        for block in _SQL
        if isinstance(found := await outcome(sample, reader_of(block), block.text), str)
    ]

    assert faults == [], "\n".join(faults)


async def test_every_question_of_the_dba_guide_finds_something(sample: Conn) -> None:
    found = [(block, await outcome(sample, ROLE, block.text)) for block in _READING]
    faults = [
        f"{block.where}: {counts}"
        for block, counts in found
        if isinstance(counts, str) or not is_answered(block, counts)
    ]

    assert faults == [], "\n".join(faults)


async def test_every_statement_given_to_psql_runs(sample: Conn) -> None:
    faults = [
        f"{place}: {found}"
        for place, text in in_shell()
        if isinstance(found := await outcome(sample, ROLE, text), str)
    ]

    assert faults == [], "\n".join(faults)


async def test_what_a_statement_did_is_undone_and_an_error_is_returned(sample: Conn) -> None:
    count = "SELECT 1 FROM mailqueue.sender_accounts WHERE name = 'relay'"
    rename = "UPDATE mailqueue.sender_accounts SET name = 'x' WHERE name = 'relay'"

    assert await outcome(sample, ROLE, f"{rename}; {count}") == [0]
    assert await outcome(sample, "mailqueue_dba", "DELETE FROM mailqueue.sender_accounts") == (
        "permission denied for table sender_accounts"
    )
    assert await outcome(sample, ROLE, count) == [1]


def test_the_documentation_shows_statements() -> None:
    assert len(_SQL) > 20
    assert len(_READING) > 20
    assert in_shell()
