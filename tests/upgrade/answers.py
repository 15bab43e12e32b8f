"""The types of a statement's parameters and columns, as PostgreSQL reports them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from mailqueue.db.sql import Statement
from tests.rules.test_statements import planned

RECORDED = Path(__file__).parent / "recorded"
ANSWERS = RECORDED / "answers.json"
_TYPE = "SELECT format_type(%s, NULL)"


@dataclass(frozen=True, slots=True)
class Answer:
    """One statement as the server sees it."""

    takes: tuple[str, ...]
    gives: tuple[tuple[str, str], ...]  # name and type of each column


def answers(url: str, statements: Iterable[Statement]) -> Mapping[str, Answer]:
    """Let the server plan every statement; raise psycopg's error for an invalid one."""
    with psycopg.connect(url, autocommit=True) as conn:
        return {each.name: _answer(conn, each) for each in statements}


def _answer(conn: psycopg.Connection[tuple[object, ...]], statement: Statement) -> Answer:
    made = conn.pgconn.prepare(b"asked", planned(statement).encode())
    assert not made.error_message, f"{statement.name}: {made.error_message.decode()}"
    told = conn.pgconn.describe_prepared(b"asked")
    takes = tuple(_type(conn, told.param_type(n)) for n in range(told.nparams))
    names = [(told.fname(n) or b"").decode() for n in range(told.nfields)]
    gives = tuple((name, _type(conn, told.ftype(n))) for n, name in enumerate(names))
    conn.execute("DEALLOCATE asked")
    return Answer(takes, gives)


def _type(conn: psycopg.Connection[tuple[object, ...]], oid: int) -> str:
    row = conn.execute(_TYPE, (oid,)).fetchone()
    assert row is not None
    return str(row[0])
