"""Finds every named SQL statement in `sql/queries/` and what it promises to give."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from psycopg import sql

from mailqueue.db.registered import filled


class Gives(StrEnum):
    """How many rows a statement gives."""

    ONE = "one"
    MAYBE = "maybe"
    MANY = "many"
    VALUE = "value"  # one row, one column
    RUN = "run"  # no rows wanted


class StatementError(ValueError):
    """A file of statements is malformed; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One named statement; `query` is what PostgreSQL is told."""

    name: str
    gives: Gives
    query: bytes

    def format(self, **slots: sql.Composable) -> "Statement":
        """Fill the `{slots}` of the text; a literal brace in such a statement is doubled."""
        text = sql.SQL(self.query.decode()).format(**slots)
        return Statement(self.name, self.gives, text.as_bytes(None))


_HEADER = re.compile(r"-- name: ([a-z][a-z0-9_]*) :([a-z]+)")


def sql_folder() -> Path:
    """Return the folder of our SQL: inside the installed package, else beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "sql"
    return shipped if shipped.is_dir() else package.parent / "sql"


def read_statements(folder: Path) -> dict[str, Statement]:
    """Read every `*.sql` of the folder.

    Raises:
        StatementError: for text before the first header, a malformed header, a statement that is
            empty or lacks the comment saying what it promises, or a name used twice.
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
    if header is None or header[2] not in set(Gives):
        kinds = " ".join(f":{kind}" for kind in Gives)
        raise StatementError(f"{where}: write `-- name: verb_noun` and one of {kinds}")
    if len(block) < 2 or not block[1].startswith("-- "):
        raise StatementError(f"{where}: {header[1]} lacks the comment saying what it promises")
    body = _without_comments(block)
    if not body:
        raise StatementError(f"{where}: {header[1]} is empty")
    return Statement(header[1], Gives(header[2]), body.encode())


def _without_comments(block: list[str]) -> str:
    """Drop whole-line comments: a percent sign in one would be taken for a parameter."""
    lines = [line.rstrip() for line in block if not line.lstrip().startswith("--")]
    return "\n".join(lines).strip().removesuffix(";").rstrip()


SQL: Mapping[str, Statement] = MappingProxyType(read_statements(sql_folder() / "queries"))
