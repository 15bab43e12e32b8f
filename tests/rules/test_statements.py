"""Every statement has a constant that a module uses, and is planned by the real schema.

That it is fetched as it is declared is checked by mypy.
"""

import ast
import re
from collections.abc import Container
from pathlib import Path

import pytest
from psycopg import Error

from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from mailqueue.db.sql import SQL, Statement
from mailqueue.queue.store import ROW_STATEMENTS, statement
from tests.rules import constants
from tests.rules.source import modules

# What PREPARE takes; all else is too simple to be wrong in a way that planning would show.
_PLANNED = re.compile(r"(?i)(WITH|SELECT|INSERT|UPDATE|DELETE|MERGE|VALUES)\b")
_PARAMETER = re.compile(r"%\(([a-z0-9_]+)\)[sbt]")


def planned(statement: Statement) -> str:
    """Return the statement as PREPARE takes it: parameters numbered, percent signs single."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    return _PARAMETER.sub(number, statement.query.decode()).replace("%%", "%")


def used_in(tree: ast.Module) -> set[str]:
    """Return the names of constants that a module reads from another, `sql.LIST_CONTACTS`. Pure."""
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def named_in(tree: ast.Module, known: Container[str]) -> list[str]:
    """Return the known statements that calls of `fetch` or `SQL[…]` name by a text. Pure."""
    found = []
    for node in ast.walk(tree):
        named: ast.expr | None = None
        if isinstance(node, ast.Call) and len(node.args) > 1:
            named = node.args[1]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "SQL":
            named = node.slice
        if isinstance(named, ast.Constant) and named.value in known:
            found.append(str(named.value))
    return found


def test_every_statement_is_used() -> None:
    used = set().union(*(used_in(tree) for tree in modules().values()))

    assert sorted(name for name in SQL if name.upper() not in used) == []


def test_the_constants_are_those_of_the_files_of_statements() -> None:
    assert constants.differing(constants.made(), constants.stored()) == [], constants.UPDATE


def test_a_changed_statement_makes_other_constants(tmp_path: Path) -> None:
    (tmp_path / "mail").mkdir()
    place = tmp_path / "mail" / "sent.sql"
    place.write_text("-- Mail.\n\n-- name: count_sent :value\n-- Number of\n-- mails.\nSELECT 1;\n")
    before = constants.made(tmp_path)
    place.write_text(place.read_text().replace(":value", ":one"))

    text = before["mail/sent.py"]

    assert 'COUNT_SENT = OneValue.named("count_sent")\n' in text
    assert '"""sql/queries/mail/sent.sql:3: Number of mails."""' in text
    assert constants.differing(constants.made(tmp_path), before) == ["mail/sent.py"]
    assert constants.differing(before, {**before, "gone.py": ""}) == ["gone.py"]


def test_no_module_names_a_statement_by_a_text() -> None:
    found = {name: named for name, tree in modules().items() if (named := named_in(tree, SQL))}

    assert found == {}


def test_a_statement_that_is_named_by_a_text_is_found() -> None:
    tree = ast.parse("fetch.one(conn, 'list_roles', None, int)\nSQL['beat']\none(conn, x.BEAT)")

    assert named_in(tree, {"list_roles", "beat"}) == ["list_roles", "beat"]


def texts_of(name: str) -> list[str]:
    """Return what is planned for a statement; for one of the queues, the text of each table."""
    if SQL[name] in ROW_STATEMENTS:  # it calls a function of each queue table
        columns = ("id", "claim_no") if name == "claim_rows" else ()
        return [planned(statement(spec, SQL[name], columns)) for spec in QUEUES]
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
