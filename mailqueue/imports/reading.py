"""Read files of imports: into parts, and from them line by line. No SQL."""

import zlib
from collections.abc import Generator, Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

from mailqueue.contacts.importing import fields_of
from mailqueue.contract.background import RefusedLine
from mailqueue.contract.suppression import ListEncoding
from mailqueue.core.errors import InvalidField
from mailqueue.imports.model import ReadLines
from mailqueue.suppression.lists.encoding import encoding_of
from mailqueue.suppression.lists.reading import read_records

PART_BYTES = 1024 * 1024
"""Bytes of a part before it is compressed."""

ImportLine = tuple[int, Mapping[str, Any]] | RefusedLine


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


def lines_of(file: BinaryIO, encoding: ListEncoding) -> Generator[ImportLine, None, None]:
    """Yield the lines of a file in order, as fields or with the reason of their refusal.

    Raises:
        InvalidField: field `file`; the rest of it cannot be read.
    """
    for number, values in read_records(file, encoding):
        if isinstance(values, str):
            yield RefusedLine(number, None, values)
            continue
        try:
            yield number, fields_of(values)
        except InvalidField as exc:
            yield RefusedLine(number, exc.field, exc.why)


def skip(lines: Iterator[ImportLine], count: int) -> None:
    """Read lines that were taken already."""
    next(islice(lines, count, count), None)


def next_lines(lines: Iterator[ImportLine], count: int, *, behind: int) -> ReadLines | None:
    """Return the next lines, at most `count`; None at the end. `behind` were read before."""
    read = list(islice(lines, count))
    if not read:
        return None
    valid = [each for each in read if not isinstance(each, RefusedLine)]
    refused = [each for each in read if isinstance(each, RefusedLine)]
    return ReadLines(behind + len(read), valid, refused)
