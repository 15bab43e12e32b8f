"""How most commands end: open a connection, await one verb, print what it returned."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from mailqueue.cli.support.app import Opened, opened, run
from mailqueue.cli.support.output import Column, emit, table

Result = TypeVar("Result")
Row = TypeVar("Row")


def asked(work: Callable[[Opened], Awaitable[Result]]) -> Result:
    """Return what a verb returns, run with an open connection."""

    async def working() -> Result:
        async with opened() as app:
            return await work(app)

    return run(working())


def answer(
    work: Callable[[Opened], Awaitable[Result]],
    *,
    as_json: bool,
    show: Callable[[Result], None],
) -> None:
    """Print what a verb returns: one JSON document, or as `show` has it for people."""
    found = asked(work)
    if as_json:
        emit(found)
    else:
        show(found)


def answer_rows(
    work: Callable[[Opened], Awaitable[Sequence[Row]]], *, as_json: bool, columns: Sequence[Column]
) -> None:
    """Print the rows a verb returns: one JSON list, or a table."""
    answer(work, as_json=as_json, show=lambda rows: table(rows, columns))
