"""Read files of imports: into parts, and from them line by line. No SQL."""

import zlib
from collections.abc import Generator, Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

from mailqueue.contacts.importing import fields_of
from mailqueue.contract.background import ImportKind
from mailqueue.contract.suppression import BadLine, ListEncoding, SuppressionReason
from mailqueue.core.errors import InvalidField
from mailqueue.imports.model import ReadLines
from mailqueue.suppression.lists.encoding import encoding_of
from mailqueue.suppression.lists.reading import read_lines, read_records
from mailqueue.suppression.model import NewSuppression

PART_BYTES = 1024 * 1024
"""Bytes of a part before it is compressed."""

ImportLine = tuple[int, Mapping[str, Any]] | BadLine


def examine(file: BinaryIO) -> tuple[ListEncoding, int]:
    """Return the encoding of a file and its number of lines; it is left at its beginning.

    Raises:
        InvalidField: field `file`; it is not a list, or no column is named for the address.
    """
    encoding = encoding_of(file)
    next(read_records(file, encoding), None)  # the header, and what follows it
    file.seek(0)
    lines, last = 0, b"\n"
    while piece := file.read(PART_BYTES):
        lines += piece.count(b"\n")
        last = piece[-1:]
    file.seek(0)
    return encoding, lines + (last != b"\n")


def next_part(file: BinaryIO) -> tuple[int, bytes] | None:
    """Return the size of the next part of a file and the part, compressed; None at its end."""
    piece = file.read(PART_BYTES)
    return (len(piece), zlib.compress(piece)) if piece else None


def lines_of(
    file: BinaryIO, kind: ImportKind, encoding: ListEncoding, options: Mapping[str, Any]
) -> Generator[ImportLine, None, None]:
    """Yield the lines of a file in order, as fields or with the reason of their refusal.

    Raises:
        InvalidField: field `file`; the rest of it cannot be read.
    """
    if kind is ImportKind.CONTACTS:
        yield from _contacts(file, encoding)
        return
    reason = options.get("reason")
    otherwise = None if reason is None else SuppressionReason(reason)
    for line in read_lines(file, encoding, otherwise=otherwise):
        yield line if isinstance(line, BadLine) else (line.number, _suppression(line.entry))


def _contacts(file: BinaryIO, encoding: ListEncoding) -> Iterator[ImportLine]:
    for number, values in read_records(file, encoding):
        if isinstance(values, str):
            yield BadLine(number, values)
            continue
        try:
            yield number, fields_of(values)
        except InvalidField as exc:
            yield BadLine(number, exc.why, exc.field)


def _suppression(entry: NewSuppression) -> Mapping[str, Any]:
    """Return a suppression as SQL takes it. Pure."""
    until = None if entry.expires_at is None else entry.expires_at.isoformat()
    return {
        "address": entry.address.key,
        "category": entry.category,
        "reason": entry.reason.value,
        "detail": entry.detail,
        "expires_at": until,
    }


def skip(lines: Iterator[ImportLine], count: int) -> None:
    """Read lines that were taken already."""
    next(islice(lines, count, count), None)


def next_lines(lines: Iterator[ImportLine], count: int, *, behind: int) -> ReadLines | None:
    """Return the next lines, at most `count`; None at the end. `behind` were read before."""
    read = list(islice(lines, count))
    if not read:
        return None
    valid = [each for each in read if not isinstance(each, BadLine)]
    refused = [each for each in read if isinstance(each, BadLine)]
    return ReadLines(behind + len(read), valid, refused)
