"""The tables, views and checks named by the glossary exist, and its terms are unique."""

import re

import pytest

from mailqueue.db.fetch import Conn
from tests.docs.reading import text_of
from tests.rules.source import ROOT

pytestmark = pytest.mark.anyio
PAGE = text_of(ROOT / "docs" / "glossary.md")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| **")
]
LEAST_TERMS = 30


def spans(cells: list[str]) -> set[str]:
    return {span for cell in cells for span in re.findall(r"`([^`]+)`", cell)}


def after(word: str) -> set[str]:
    """Return the code spans that follow a word in the last column: "views `a`, `b`"."""
    found = [re.search(rf"\b{word}s? (`[^;]+)", row[-1]) for row in ROWS]
    return spans([each[1] for each in found if each])


def test_each_term_is_defined_once() -> None:
    terms = [term for row in ROWS for term in re.findall(r"\w[\w -]*", row[0].replace("*", ""))]

    assert len(terms) >= LEAST_TERMS
    assert len(terms) == len(set(terms))


async def test_tables_and_views_are_there(shared_conn: Conn) -> None:
    query = b"SELECT relname FROM pg_class WHERE relnamespace = 'mailqueue'::regnamespace"
    relations = {row[0] for row in await (await shared_conn.execute(query)).fetchall()}

    assert spans([row[2] for row in ROWS]) - relations == set()
    assert after("view")
    assert after("view") - relations == set()


async def test_checks_are_there(shared_conn: Conn) -> None:
    cursor = await shared_conn.execute(b"SELECT name FROM mailqueue.health")
    checks = {row[0] for row in await cursor.fetchall()}

    assert after("check")
    assert after("check") - checks == set()
