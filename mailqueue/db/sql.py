"""Loads the named SQL statements of `sql/queries/` and the number of rows each declares."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

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
    gives: RowCount
    query: bytes

    def format(self, **slots: sql.Composable) -> "Statement":
        """Fill the `{slots}` of the text; literal braces in such a statement are doubled."""
        text = sql.SQL(self.query.decode()).format(**slots)
        return Statement(self.name, self.gives, text.as_bytes(None))


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
    if header is None or header[2] not in set(RowCount):
        kinds = " ".join(f":{kind}" for kind in RowCount)
        raise StatementError(f"{where}: write `-- name: verb_noun` and one of {kinds}")
    if len(block) < 2 or not block[1].startswith("-- "):
        raise StatementError(f"{where}: {header[1]} has no comment that describes its result")
    body = _without_comments(block)
    if not body:
        raise StatementError(f"{where}: {header[1]} is empty")
    return Statement(header[1], RowCount(header[2]), body.encode())


def _without_comments(block: list[str]) -> str:
    """Drop whole-line comments: a percent sign in one would be read as a parameter."""
    lines = [line.rstrip() for line in block if not line.lstrip().startswith("--")]
    return "\n".join(lines).strip().removesuffix(";").rstrip()


SQL: Mapping[str, Statement] = MappingProxyType(read_statements(sql_folder() / "queries"))
