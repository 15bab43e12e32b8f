"""What most commands do: open a connection, await one verb, print its result as text or as JSON."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

import click

from mailqueue.cli.support.app import Opened, opened, run
from mailqueue.cli.support.output import Column, emit, facts, table
from mailqueue.contract.value import Value

Command = TypeVar("Command", bound=Callable[..., Any])
Result = TypeVar("Result")
Row = TypeVar("Row")
Document = Value | Sequence[Value] | None
"""What `--json` prints: values of the contract, so that each is declared once."""

_JSON = "mailqueue.json"


def json_option(command: Command) -> Command:
    """Add `--json`; what is printed below then is one JSON document."""
    add = click.option(
        "--json",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="Print one JSON document on standard output.",
    )
    return add(command)


def prints_json() -> bool:
    """Return whether the running command was given `--json`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_JSON))


def execute(verb: Callable[[Opened], Awaitable[Result]]) -> Result:
    """Return the result of a verb that is run with settings and an open connection."""

    async def working() -> Result:
        async with opened() as app:
            return await verb(app)

    return run(working())


def print_result(document: Document, as_text: Callable[[], object]) -> None:
    """Print a JSON document, or call `as_text`, which prints the same for people."""
    if prints_json():
        emit(document)
    else:
        as_text()


def print_message(document: Document, text: str) -> None:
    """Print a JSON document, or a sentence."""
    print_result(document, lambda: click.echo(text))


def print_facts(document: Document, pairs: Iterable[tuple[str, object]]) -> None:
    """Print a JSON document, or one name and value per line."""
    print_result(document, lambda: facts(pairs))


@overload
def print_rows(
    rows: Sequence[Value],
    columns: Sequence[Column],
    *,
    row: Callable[[Any], object] | None = None,
    nothing: str | None = None,
) -> None: ...


@overload
def print_rows(
    rows: Sequence[Row],
    columns: Sequence[Column],
    *,
    document: Document,
    row: Callable[[Row], object] | None = None,
    nothing: str | None = None,
) -> None: ...


def print_rows(
    rows: Sequence[Any],
    columns: Sequence[Column],
    *,
    document: Document = None,
    row: Callable[[Any], object] | None = None,
    nothing: str | None = None,
) -> None:
    """Print a JSON document, by default the list of the rows, or a table.

    `row` returns the table's row for one of the rows; `nothing` replaces a table without rows.
    """

    def as_text() -> None:
        if nothing is not None and not rows:
            click.echo(nothing)
        else:
            table(rows if row is None else [row(each) for each in rows], columns)

    print_result(rows if document is None else document, as_text)


def _remember(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[_JSON] = value
