from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn, WrongRows, many, maybe, one, run, value
from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue, Statement

pytestmark = pytest.mark.anyio

S = TypeVar("S", bound=Statement)


@dataclass(frozen=True, slots=True)
class Pair:
    number: int
    word: str


class QuickPair(NamedTuple):
    number: int
    word: str


def statement(kind: type[S], query: str) -> S:
    return kind("tried", query.encode())


PAIRS = "SELECT 'w' || n AS word, n AS number FROM generate_series(1, %(count)s) AS n ORDER BY n"


@pytest.mark.parametrize("row", [Pair, QuickPair])
@pytest.mark.parametrize(
    "columns", ["'w' || n AS word, n AS number", "n AS number, 'w' || n AS word"]
)
async def test_columns_reach_the_fields_of_their_name_in_any_order(
    conn: Conn, columns: str, row: type[Pair] | type[QuickPair]
) -> None:
    pairs = f"SELECT {columns} FROM generate_series(1, %(count)s) AS n ORDER BY n"

    found = await many(conn, statement(ManyRows, pairs), {"count": 2}, row)

    assert found == [row(1, "w1"), row(2, "w2")]


@pytest.mark.parametrize("row", [Pair, QuickPair])
async def test_a_column_without_a_field_is_an_error(
    conn: Conn, row: type[Pair] | type[QuickPair]
) -> None:
    one_more = statement(OneRow, "SELECT 1 AS number, 'w' AS word, 2 AS more")

    with pytest.raises(TypeError):
        await one(conn, one_more, None, row)


async def test_one_row_is_exactly_one(conn: Conn) -> None:
    only = statement(OneRow, PAIRS)

    assert await one(conn, only, {"count": 1}, Pair) == Pair(1, "w1")
    for count in (0, 2):
        with pytest.raises(WrongRows, match=f"tried returned {count} rows"):
            await one(conn, only, {"count": count}, Pair)


async def test_a_row_that_may_be_missing_is_none(conn: Conn) -> None:
    perhaps = statement(MaybeRow, PAIRS)

    assert await maybe(conn, perhaps, {"count": 0}, Pair) is None
    assert await maybe(conn, perhaps, {"count": 1}, Pair) == Pair(1, "w1")
    with pytest.raises(WrongRows):
        await maybe(conn, perhaps, {"count": 2}, Pair)


async def test_a_single_column_is_given_bare(conn: Conn) -> None:
    listed = statement(ManyRows, "SELECT generate_series(1, 3)")

    assert await many(conn, listed, None, int) == [1, 2, 3]
    assert await value(conn, statement(OneValue, "SELECT 'x'"), None, str) == "x"


async def test_a_value_of_another_type_is_refused(conn: Conn) -> None:
    with pytest.raises(WrongRows, match="tried returned NoneType, not int"):
        await value(conn, statement(OneValue, "SELECT NULL"), None, int)


async def test_a_bare_type_for_two_columns_is_refused(conn: Conn) -> None:
    with pytest.raises(WrongRows, match="expected one column, got 2"):
        await value(conn, statement(OneValue, "SELECT 1, 2"), None, int)


async def test_a_statement_is_fetched_as_it_is_declared(conn: Conn) -> None:
    with pytest.raises(WrongRows, match="declared :many, but fetched as :one"):
        await one(conn, statement(ManyRows, "SELECT 1"), None, int)  # type: ignore[arg-type]


async def test_running_says_how_many_rows_were_touched(conn: Conn) -> None:
    await run(conn, statement(NoRows, "CREATE TEMPORARY TABLE t (n integer)"))

    inserted = statement(NoRows, "INSERT INTO t SELECT generate_series(1, 4)")

    assert await run(conn, inserted) == 4


async def test_json_keeps_its_shape_both_ways(conn: Conn) -> None:
    given = {"ä": [1, 2.5, None, True], "nested": {"x": "😀"}}

    echoed = statement(OneValue, "SELECT %(given)s::jsonb")

    assert await value(conn, echoed, {"given": Jsonb(given)}, dict) == given
