"""The plans of a session's statements, including those inside functions."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import sql
from psycopg.errors import Diagnostic

from mailqueue.db.fetch import Conn

# Of a superuser; for sessions that begin afterwards.
WATCHED = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_level": "notice",
    "auto_explain.log_format": "json",
}
_PLAN = re.compile(r"duration: .* plan:\n(.*)", re.DOTALL)
_FUNCTION = re.compile(r'(?:PL/pgSQL|SQL) function "?(\w+)')


@dataclass(frozen=True, slots=True)
class Plan:
    """One executed plan: its statement, and the functions that ran it, inner first."""

    query: str
    functions: tuple[str, ...]
    cost: float
    compiled: int  # expressions and the like that JIT made

    def __str__(self) -> str:
        said_by = " < ".join(self.functions) or "the session"
        query = " ".join(self.query.split())[:200]
        return f"{said_by}: cost {self.cost:,.0f}, {self.compiled} compiled: {query}"


def watch(database: str) -> list[sql.Composed]:
    """Return the SQL that makes every session of a database report its plans."""
    return [
        sql.SQL("ALTER DATABASE {} SET {} = {}").format(
            sql.Identifier(database), sql.SQL(name), sql.Literal(value)
        )
        for name, value in WATCHED.items()
    ]


@contextmanager
def told(conn: Conn) -> Iterator[list[Plan]]:
    """Collect the plans of what a session does meanwhile."""
    plans: list[Plan] = []

    def note(said: Diagnostic) -> None:
        found = _PLAN.match(said.message_primary or "")
        if found is not None:
            plans.append(_plan(json.loads(found[1]), said.context or ""))

    conn.add_notice_handler(note)
    try:
        yield plans
    finally:
        conn.remove_notice_handler(note)


def _plan(document: dict[str, Any], context: str) -> Plan:
    return Plan(
        document["Query Text"],
        tuple(_FUNCTION.findall(context)),
        document["Plan"]["Total Cost"],
        document.get("JIT", {}).get("Functions", 0),
    )
