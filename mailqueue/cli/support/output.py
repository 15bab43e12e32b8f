"""Output of commands: a table, a list of facts, or exactly one JSON document."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any, TextIO, TypeVar

import click
import orjson

from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret

Command = TypeVar("Command", bound=Callable[..., Any])

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: the key of the value it shows, and the heading."""

    key: str
    heading: str
    numeric: bool = False


def examples(*lines: str) -> str:
    """Return an epilog with example lines, printed unchanged."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


MAX_ALIGNED = 500
"""Characters to which a column is padded; a longer cell is printed whole, out of line."""


def emit(document: object) -> None:
    """Print one JSON document; dataclasses become objects, UUIDs and times become strings."""
    # Dataclasses come to us: a Secret is one, and it must say ***.
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z | orjson.OPT_PASSTHROUGH_DATACLASS
    if sys.stdout.isatty():
        options |= orjson.OPT_INDENT_2
    click.echo(write_json(document, default=_plain, option=options), nl=False)


def table(rows: Iterable[Mapping[str, object] | object], columns: Sequence[Column]) -> None:
    """Print rows under headings; a row is a mapping or dataclass with the columns' keys."""
    cells = [[show(_value_of(row, column.key)) for column in columns] for row in rows]
    if sys.stdout.isatty():
        _print_rich(cells, columns)
    else:
        for line in _aligned(cells, columns):
            click.echo(line)


def facts(pairs: Iterable[tuple[str, object]]) -> None:
    """Print one name and value per line, values aligned."""
    shown = [(name, show(value)) for name, value in pairs]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{paint(name.ljust(width), bold=True)}  {value}")


def paint(
    text: str, *, colour: str | None = None, bold: bool = False, file: TextIO | None = None
) -> str:
    """Return coloured text if standard output is a terminal and NO_COLOR is not set."""
    wanted = (file or sys.stdout).isatty() and not os.environ.get("NO_COLOR")
    return click.style(text, fg=colour, bold=bold) if wanted else text


def in_project(value: Any, project: str | None) -> dict[str, object]:
    """Return a value as a row of a list that may span projects: with the name of its project."""
    named = {field.name: getattr(value, field.name) for field in fields(value)}
    return named if project is None else {"project": project, **named}


def show(value: object) -> str:
    """Return a value as readable text on one line, without control characters."""
    match value:
        case None | "":
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
        case timedelta():
            return _duration(value)
        case list() | tuple():
            return ", ".join(show(item) for item in value) or NOTHING
        case _:
            return "".join(char if char.isprintable() else "\ufffd" for char in str(value))


def _duration(value: timedelta) -> str:
    seconds = value.total_seconds()
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if abs(seconds) >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds * 1000:.3g} ms"


def _value_of(row: Mapping[str, object] | object, key: str) -> object:
    return row[key] if isinstance(row, Mapping) else getattr(row, key)


def _aligned(cells: list[list[str]], columns: Sequence[Column]) -> Iterable[str]:
    lines = [[column.heading for column in columns], *cells]
    widths = [min(MAX_ALIGNED, max(len(line[i]) for line in lines)) for i in range(len(columns))]
    for line in lines:
        padded = (
            cell.rjust(width) if column.numeric else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        )
        yield "  ".join(padded).rstrip()


def _print_rich(cells: list[list[str]], columns: Sequence[Column]) -> None:
    # Imported when a terminal is there: it costs more than the rest of the command line.
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        grid.add_column(column.heading, justify="right" if column.numeric else "left")
    for line in cells:
        grid.add_row(*(Text(cell) for cell in line))  # Text: a value is never markup
    Console().print(grid)


def _plain(value: object) -> object:
    match value:
        case timedelta():
            return value.total_seconds()
        case set() | frozenset():
            return sorted(value)
        case Secret():
            return str(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {field.name.rstrip("_"): getattr(value, field.name) for field in fields(value)}
        case _:
            return str(value)
