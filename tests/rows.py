"""Runs a test over all rows of a table on one database, where `parametrize` makes one for each."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

SHOWN = 300
"""Characters of a row in the report of its failure."""


def each_row(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call a test once for each row, as `parametrize` does, in one case with the same fixtures.

    All rows are tried, and the report shows each that failed. It is for tests after which another
    row finds what it needs: most read, or are refused.
    """
    arguments = [name.strip() for name in names.split(",")]
    table = [dict(zip(arguments, _values(row, len(arguments)), strict=True)) for row in rows]
    assert table, "a table without rows tests nothing"

    def decorated(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        async def over_rows(**fixtures: Any) -> None:
            failures = list[BaseException]()
            for row in table:
                try:
                    await test(**fixtures, **row)
                except (Exception, pytest.fail.Exception) as error:
                    failures.append(_of_row(error, row))
            _raise(failures, len(table))

        @functools.wraps(test)
        def over_rows_at_once(**fixtures: Any) -> None:
            failures = list[BaseException]()
            for row in table:
                try:
                    test(**fixtures, **row)
                except (Exception, pytest.fail.Exception) as error:
                    failures.append(_of_row(error, row))
            _raise(failures, len(table))

        is_coroutine = inspect.iscoroutinefunction(test)
        made: Callable[..., Any] = over_rows if is_coroutine else over_rows_at_once
        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in arguments]
        assert len(others) + len(arguments) == len(signature.parameters), "a name is no argument"
        made.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return made

    return decorated


def _values(row: Any, count: int) -> tuple[Any, ...]:
    return (row,) if count == 1 else tuple(row)


def _of_row(error: BaseException, row: dict[str, Any]) -> BaseException:
    error.add_note(f"in the row {row!r}"[:SHOWN])
    return error


def _raise(failures: list[BaseException], count: int) -> None:
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {count} rows failed", failures)
