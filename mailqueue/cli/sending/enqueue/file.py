"""Recipients from a CSV file: valid lines, and the errors of the others."""

import codecs
import csv
import hashlib
import io
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from mailqueue.cli.support.text_file import not_utf8
from mailqueue.contract.suppression import BadLine
from mailqueue.core.errors import InvalidField

ADDRESS_COLUMNS = ("email", "recipient_email")
NAME_COLUMN = "name"
FIELD_CHARACTERS = 25 * 1024 * 1024

_CHUNK_BYTES = 1024 * 1024
_SPOOL_BYTES = 16 * 1024 * 1024

CsvRows = Iterator[tuple[int, list[str] | csv.Error]]


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read once: it is valid UTF-8, and `sha256` identifies it."""

    file: BinaryIO
    name: str
    sha256: str
    lines: int


@dataclass(frozen=True, slots=True)
class Line:
    """One record; `number` is the line it starts on, the header's being 1."""

    number: int
    values: dict[str, str]
    address: str
    name: str


def examined(file: BinaryIO, name: str) -> Source:
    """Read a whole file first, so that nothing is queued from a file that is not text.

    Raises:
        InvalidField: the file is not UTF-8.
    """
    content = file if file.seekable() else _kept(file)
    content.seek(0)
    start = content.read(4)
    content.seek(0)
    digest, lines, last = hashlib.sha256(), 0, b"\n"
    decoder = codecs.getincrementaldecoder("utf-8")()
    while chunk := content.read(_CHUNK_BYTES):
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as exc:
            line = lines + exc.object.count(b"\n", 0, exc.start) + 1
            byte = exc.object[exc.start]
            raise not_utf8(name, line=line, byte=byte, start=start) from None
        digest.update(chunk)
        lines += chunk.count(b"\n")
        last = chunk[-1:]
    if decoder.getstate()[0]:
        raise InvalidField("file", f"{name} is not UTF-8: it ends in the middle of a character")
    return Source(content, name, digest.hexdigest(), lines + (last != b"\n"))


def _kept(stream: BinaryIO) -> BinaryIO:
    """Return a seekable copy of a stream: in memory if small, otherwise in a temporary file."""
    kept = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115
    shutil.copyfileobj(stream, kept)
    return cast(BinaryIO, kept)


def records(source: Source) -> Iterator[Line | BadLine]:
    """Yield the records in order; an invalid one does not stop those after it.

    Raises:
        InvalidField: the header has no column `email`, or a column twice.
    """
    source.file.seek(0)
    text = io.TextIOWrapper(source.file, encoding="utf-8-sig", newline="")
    try:
        rows = _rows(text)
        header = _header(source.name, rows)
        address = next(column for column in ADDRESS_COLUMNS if column in header)
        for number, row in rows:
            yield _record(number, row, header=header, address=address)
    finally:
        text.detach()


def _rows(text: io.TextIOWrapper) -> CsvRows:
    """Yield each record with the line it starts on; skip empty lines."""
    csv.field_size_limit(FIELD_CHARACTERS)
    reader = csv.reader(text, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as exc:
            yield number, exc
            continue
        if row:
            yield number, row


def _header(name: str, rows: CsvRows) -> list[str]:
    _, row = next(rows, (1, []))
    if isinstance(row, csv.Error):
        raise InvalidField("file", f"the header of {name} is not CSV: {row}")
    header = [column.strip() for column in row]
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise InvalidField("file", f"the header of {name} has the column {twice[0]} twice")
    if not set(header) & set(ADDRESS_COLUMNS):
        raise InvalidField(
            "file",
            f"the header of {name} has no column email; it has {', '.join(header) or 'none'}",
        )
    return header


def _record(
    number: int, row: list[str] | csv.Error, *, header: list[str], address: str
) -> Line | BadLine:
    if isinstance(row, csv.Error):
        return BadLine(number, f"this is not CSV: {row}")
    if len(row) != len(header):
        counts = f"{len(row)} value{'' if len(row) == 1 else 's'}"
        return BadLine(number, f"it has {counts}, the header has {len(header)} columns")
    values = dict(zip(header, row, strict=True))
    return Line(number, values, values[address].strip(), values.get(NAME_COLUMN, "").strip())
