"""Loads the named SQL statements of `sql/queries/` and the number of rows each declares.

Programs name a statement by its constant in `mailqueue/db/statements`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Self

from psycopg import sql

from mailqueue.db.registered import filled


class RowCount(StrEnum):
    """The number of rows that a statement returns."""

    ONE = "one"
    MAYBE = "maybe"
    MANY = "many"
    VALUE = "value"  # one row, one column
    RUN = "run"  # rows are not read


class StatementError(ValueError):
    """A file of statements is malformed; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One named statement; `query` is the text sent to PostgreSQL."""

    name: str
    query: bytes

    gives: ClassVar[RowCount]

    def format(self, **slots: sql.Composable) -> Self:
        """Fill the `{slots}` of the text; literal braces in such a statement are doubled."""
        text = sql.SQL(self.query.decode()).format(**slots)
        return replace(self, query=text.as_bytes(None))

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the statement of `sql/queries/` that has this name.

        Raises:
            StatementError: there is none, or it declares another number of rows.
        """
        found = SQL.get(name)
        if not isinstance(found, cls):
            raise StatementError(f"sql/queries has no `-- name: {name} :{cls.gives}`")
        return found


class OneRow(Statement):
    """A statement that returns one row."""

    __slots__ = ()
    gives = RowCount.ONE


class MaybeRow(Statement):
    """A statement that returns one row or none."""

    __slots__ = ()
    gives = RowCount.MAYBE


class ManyRows(Statement):
    """A statement that returns any number of rows."""

    __slots__ = ()
    gives = RowCount.MANY


class OneValue(Statement):
    """A statement that returns one row of one column."""

    __slots__ = ()
    gives = RowCount.VALUE


class NoRows(Statement):
    """A statement that is run for its effect."""

    __slots__ = ()
    gives = RowCount.RUN


KINDS: Mapping[str, type[Statement]] = MappingProxyType(
    {kind.gives.value: kind for kind in (OneRow, MaybeRow, ManyRows, OneValue, NoRows)}
)
"""The class of statements by the word after their name."""


_HEADER = re.compile(r"-- name: ([a-z][a-z0-9_]*) :([a-z]+)")


def sql_folder() -> Path:
    """Return the SQL folder: inside the installed package, or next to it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "sql"
    return shipped if shipped.is_dir() else package.parent / "sql"


def read_statements(folder: Path) -> dict[str, Statement]:
    """Return the statements of every `*.sql` file in the folder, by name.

    Raises:
        StatementError: there is text before the first header, a header is malformed, a statement is
            empty or has no comment, or a name occurs twice.
    """
    found: dict[str, Statement] = {}
    for path in sorted(folder.rglob("*.sql")):
        for line_no, statement in _statements_of(path):
            if statement.name in found:
                raise StatementError(f"{path.name}:{line_no}: {statement.name} is already taken")
            found[statement.name] = statement
    return found


def _statements_of(path: Path) -> Iterator[tuple[int, Statement]]:
    start, block = 0, list[str]()
    for line_no, line in enumerate(filled(path.read_text(encoding="utf-8")).splitlines(), start=1):
        if line.startswith("-- name:"):
            if block:
                yield start, _statement(path, start, block)
            start, block = line_no, [line]
        elif block:
            block.append(line)
        elif line.strip() and not line.startswith("--"):
            raise StatementError(f"{path.name}:{line_no}: text before the first `-- name:` line")
    if block:
        yield start, _statement(path, start, block)


def _statement(path: Path, line_no: int, block: list[str]) -> Statement:
    where = f"{path.name}:{line_no}"
    header = _HEADER.fullmatch(block[0].rstrip())
    if header is None or header[2] not in KINDS:
        kinds = " ".join(f":{kind}" for kind in RowCount)
        raise StatementError(f"{where}: write `-- name: verb_noun` and one of {kinds}")
    if len(block) < 2 or not block[1].startswith("-- "):
        raise StatementError(f"{where}: {header[1]} has no comment that describes its result")
    body = _without_comments(block)
    if not body:
        raise StatementError(f"{where}: {header[1]} is empty")
    return KINDS[header[2]](header[1], body.encode())


def _without_comments(block: list[str]) -> str:
    """Drop whole-line comments: a percent sign in one would be read as a parameter."""
    lines = [line.rstrip() for line in block if not line.lstrip().startswith("--")]
    return "\n".join(lines).strip().removesuffix(";").rstrip()


SQL: Mapping[str, Statement] = MappingProxyType(read_statements(sql_folder() / "queries"))
