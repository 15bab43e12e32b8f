"""The formats of an exported file. Pure.

A file is its opening, its parts with `between` them, and its closing; a part has rows only.
Parts of Parquet are lines of JSON, of which the file is made while it is fetched.
"""

import csv
import io
from collections.abc import Mapping, Sequence

from mailqueue.analytics.exports.model import COLUMNS
from mailqueue.contract.exports import ExportFormat, ExportKind
from mailqueue.core.json.reading import read_exactly
from mailqueue.core.json.writing import write_json
from mailqueue.suppression.lists.formula import harmless

MEDIA_TYPES: Mapping[ExportFormat, str] = {
    ExportFormat.CSV: "text/csv; charset=utf-8; header=present",
    ExportFormat.JSON: "application/json",
    ExportFormat.NDJSON: "application/x-ndjson",
    ExportFormat.PARQUET: "application/vnd.apache.parquet",
}
"""The media type of a file of each format."""
_SEPARATOR = b",\n"


def part_of(lines: Sequence[str], kind: ExportKind, form: ExportFormat) -> bytes:
    """Return rows, which are lines of JSON, as a part of a file."""
    match form:
        case ExportFormat.CSV:
            names = COLUMNS[kind]
            rows = (read_exactly(line) for line in lines)
            return _csv([[harmless(_cell(row[name])) for name in names] for row in rows])
        case ExportFormat.JSON:
            return _SEPARATOR.join(line.encode() for line in lines)
        case ExportFormat.NDJSON | ExportFormat.PARQUET:
            return b"".join(line.encode() + b"\n" for line in lines)


def opening(kind: ExportKind, form: ExportFormat) -> bytes:
    """Return what precedes the first part."""
    match form:
        case ExportFormat.CSV:
            return _csv([COLUMNS[kind]])
        case ExportFormat.JSON:
            return b"[\n"
        case ExportFormat.NDJSON | ExportFormat.PARQUET:
            return b""


def between(form: ExportFormat) -> bytes:
    """Return what separates two parts."""
    return _SEPARATOR if form is ExportFormat.JSON else b""


def closing(form: ExportFormat) -> bytes:
    """Return what follows the last part."""
    return b"\n]\n" if form is ExportFormat.JSON else b""


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case dict() | list():
            return write_json(value).decode()
        case _:
            return str(value)


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()
