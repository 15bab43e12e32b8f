"""Every named statement is called, fetched as declared, and planned by the real schema."""

import ast
import re
from collections.abc import Iterator

import pytest
from psycopg import Error

from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from mailqueue.db.sql import SQL, Statement
from mailqueue.queue.store import ROW_STATEMENTS, statement
from tests.rules.source import modules

# What PREPARE takes; all else is too simple to be wrong in a way that planning would show.
_PLANNED = re.compile(r"(?i)(WITH|SELECT|INSERT|UPDATE|DELETE|MERGE|VALUES)\b")
_PARAMETER = re.compile(r"%\(([a-z0-9_]+)\)[sbt]")
_FETCHES = ("one", "maybe", "many", "value", "run")


def planned(statement: Statement) -> str:
    """Return the statement as PREPARE takes it: parameters numbered, percent signs single."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    return _PARAMETER.sub(number, statement.query.decode()).replace("%%", "%")


def called_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (fetch, statement name) of each call that names its statement."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func.attr if isinstance(node.func, ast.Attribute) else None
        function = node.func.id if isinstance(node.func, ast.Name) else function
        if function in _FETCHES and len(node.args) > 1:
            named = node.args[1]
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                yield function, named.value


def words_in(tree: ast.Module) -> set[str]:
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_statement_is_called() -> None:
    words = set().union(*(words_in(tree) for tree in modules().values()))

    assert sorted(set(SQL) - words) == []


def test_every_call_names_a_statement_and_fetches_it_as_it_promises() -> None:
    wrong = [
        f"{module}: {function}({name})"
        for module, tree in modules().items()
        for function, name in called_in(tree)
        if name not in SQL or SQL[name].gives != function
    ]

    assert wrong == []


def texts_of(name: str) -> list[str]:
    """Return what is planned for a statement; for one of the queues, the text of each table."""
    verb = next((verb for verb, known in ROW_STATEMENTS.items() if known == name), None)
    if verb is not None:  # it calls a function of each queue table
        return [planned(statement(spec, verb, ("id", "claim_no"))) for spec in QUEUES]
    text = planned(SQL[name])
    return [text] if _PLANNED.match(text) else []


async def fault_of(conn: Conn, text: str) -> str | None:
    """Return why a statement cannot be planned."""
    try:
        async with conn.transaction():
            await conn.execute(f"PREPARE tried AS {text}".encode())
            await conn.execute(b"DEALLOCATE tried")  # it would outlive the transaction
    except Error as error:
        return str(error)
    return None


@pytest.mark.anyio
async def test_every_statement_is_planned_by_the_real_schema(conn: Conn) -> None:
    faults = [
        f"{name}: {fault}"
        for name in sorted(SQL)
        for text in texts_of(name)
        if (fault := await fault_of(conn, text)) is not None
    ]

    assert faults == [], "\n".join(faults)


@pytest.mark.anyio
async def test_a_statement_that_names_a_missing_column_is_found(conn: Conn) -> None:
    fault = await fault_of(conn, "SELECT colour FROM mailqueue.schema_migrations")

    assert fault is not None
    assert 'column "colour" does not exist' in fault
    assert await fault_of(conn, "SELECT version FROM mailqueue.schema_migrations") is None


def test_a_call_that_fetches_as_another_kind_is_found() -> None:
    tree = ast.parse("async def f(conn):\n    await fetch.one(conn, 'list_roles', None, int)")

    ((function, name),) = called_in(tree)

    assert SQL[name].gives != function
