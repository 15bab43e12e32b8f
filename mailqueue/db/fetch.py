"""Runs the statements of `mailqueue/db/statements`; returns rows as values of one type."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from psycopg import AsyncConnection, AsyncCursor, DataError
from psycopg.rows import AsyncRowFactory, RowMaker, TupleRow, no_result

from mailqueue.db.reading import read_rows
from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue, RowCount, Statement

Conn = AsyncConnection[TupleRow]
Lend = Callable[[], AbstractAsyncContextManager[Conn]]
"""Lends a connection for the length of a block."""
Params = Mapping[str, Any]
T = TypeVar("T")


class WrongRows(RuntimeError):
    """A statement returned other rows than it declares, or was fetched by the wrong function."""


async def one(conn: Conn, statement: OneRow, params: Params | None, row: type[T]) -> T:
    """Return the only row.

    `row` is a class whose fields are filled by column name, or the type of the only column. A
    NamedTuple is created ten times faster than a frozen dataclass.
    """
    found = await _rows(conn, _declared(statement, RowCount.ONE), params, row)
    return _exactly_one(found, statement)


async def maybe(conn: Conn, statement: MaybeRow, params: Params | None, row: type[T]) -> T | None:
    """Return the row; None if there is none, or if its only column is NULL."""
    found = await _rows(conn, _declared(statement, RowCount.MAYBE), params, row)
    return _exactly_one(found, statement) if found else None


async def many(
    conn: Conn,
    statement: ManyRows,
    params: Params | None,
    row: type[T],
    *,
    binary: bool = False,
) -> list[T]:
    """Return all rows, in the order of the statement.

    With `binary` they are transferred in binary format: a file of 18 MB as text is 36 MB, and
    decoding it keeps the event loop from turning for 80 ms.
    """
    return await _rows(conn, _declared(statement, RowCount.MANY), params, row, binary=binary)


async def value(conn: Conn, statement: OneValue, params: Params | None, kind: type[T]) -> T:
    """Return the only column of the only row, which must be of type `kind`."""
    found = await _rows(conn, _declared(statement, RowCount.VALUE), params, kind)
    only = _exactly_one(found, statement)
    if not isinstance(only, kind):
        raise WrongRows(f"{statement.name} returned {type(only).__name__}, not {kind.__name__}")
    return only


async def run(conn: Conn, statement: NoRows, params: Params | None = None) -> int:
    """Run a statement and return the number of affected rows."""
    cursor = await conn.execute(_declared(statement, RowCount.RUN).query, params)
    return cursor.rowcount


async def _rows(
    conn: Conn,
    statement: Statement,
    params: Params | None,
    row: type[T],
    *,
    binary: bool = False,
) -> list[T]:
    async with conn.cursor(row_factory=_factory(row), binary=binary) as cursor:
        await cursor.execute(statement.query, params)
        try:
            return await cursor.fetchall()
        except (DataError, ValueError, ArithmeticError):  # Python has no value for one of them
            return read_rows(cursor, _factory(row)(cursor))


def _factory(row: type[T]) -> AsyncRowFactory[T]:
    if is_dataclass(row):
        return _by_name(row, tuple(field.name for field in fields(row)))
    names: tuple[str, ...] | None = getattr(row, "_fields", None)  # a NamedTuple's
    return _only_column if names is None else _by_name(row, names)


def _by_name(row: type[T], names: tuple[str, ...]) -> AsyncRowFactory[T]:
    def maker(cursor: AsyncCursor[Any]) -> RowMaker[T]:
        columns = cursor.description
        if columns is None:
            return no_result
        found = tuple([column.name for column in columns])
        if found != names:
            return lambda values: row(**dict(zip(found, values, strict=True)))
        if issubclass(row, tuple):
            return row._make  # type: ignore[attr-defined, no-any-return]
        return lambda values: row(*values)

    return maker


def _only_column(cursor: AsyncCursor[Any]) -> Any:
    columns = cursor.description
    if columns is None or len(columns) != 1:
        raise WrongRows(f"expected one column, got {len(columns or ())}")
    return _first


def _first(row: tuple[Any, ...]) -> Any:
    return row[0]


def _declared(statement: Statement, gives: RowCount) -> Statement:
    if statement.gives is not gives:
        raise WrongRows(f"{statement.name} is declared :{statement.gives}, but fetched as :{gives}")
    return statement


def _exactly_one(rows: list[T], statement: Statement) -> T:
    if len(rows) != 1:
        raise WrongRows(f"{statement.name} returned {len(rows)} rows")
    return rows[0]
