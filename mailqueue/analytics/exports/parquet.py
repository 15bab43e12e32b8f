"""Files of exports as Apache Parquet. Needs the package pyarrow (extra `parquet`).

Source of the format: https://parquet.apache.org/docs/file-format/.
"""

import importlib
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from mailqueue.analytics.exports.model import COLUMNS
from mailqueue.contract.counts import METRICS
from mailqueue.contract.exports import ExportKind
from mailqueue.core.json.reading import read_exactly
from mailqueue.core.json.writing import write_json

MAX_GROUP_ROWS = 50_000
"""Rows of a row group."""
MAX_GROUP_BYTES = 16 << 20
"""Bytes of the columns of a row group; the lines that pass it belong to the group."""
MAX_BATCH_BYTES = 1 << 20
"""Bytes of JSON that are read into Python at a time."""

_INTEGERS = frozenset({"priority", "recipients", "attempts", "opens", "clicks", *METRICS})
_LISTS = frozenset({"tags"})


def is_installed() -> bool:
    """Return whether pyarrow is installed here."""
    return find_spec("pyarrow") is not None


class ParquetFile:
    """A file that is made while it is read: lines of JSON in, bytes of the file out.

    It holds one row group. Its methods compute for a while: call them in a thread.
    """

    def __init__(self, kind: ExportKind) -> None:
        self._arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
        self._schema = self._schema_of(COLUMNS[kind])
        self._file = _ByteSink()
        self._writer = parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        self._group: list[Any] = []

    def add(self, part: bytes) -> bytes:
        """Return the bytes that the file goes on with; none while a row group is not full."""
        for lines in _batches(part):
            self._group.append(self._table_of(lines))
            if self._is_full():
                self._write_group()
        return self._file.take()

    def finish(self) -> bytes:
        """Return the last bytes of the file."""
        self._write_group()
        self._writer.close()
        return self._file.take()

    def _is_full(self) -> bool:
        rows = sum(one.num_rows for one in self._group)
        size = sum(one.nbytes for one in self._group)
        return bool(rows >= MAX_GROUP_ROWS or size >= MAX_GROUP_BYTES)

    def _write_group(self) -> None:
        if self._group:
            table = self._arrow.concat_tables(self._group)
            self._writer.write_table(table, row_group_size=table.num_rows)
            self._group.clear()

    def _table_of(self, lines: Sequence[bytes]) -> Any:
        rows = [read_exactly(line) for line in lines]
        columns = [
            self._arrow.array([_cell(row[field.name], field.name) for row in rows], field.type)
            for field in self._schema
        ]
        return self._arrow.Table.from_arrays(columns, schema=self._schema)

    def _schema_of(self, names: Sequence[str]) -> Any:
        arrow = self._arrow
        types: Mapping[str, Any] = {
            "integer": arrow.int64(),
            "list": arrow.list_(arrow.string()),
            "time": arrow.timestamp("us", tz="UTC"),
            "text": arrow.string(),
        }
        return arrow.schema([(name, types[_type_of(name)]) for name in names])


class _ByteSink(io.RawIOBase):
    """What a writer has written since it was taken last."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._written += piece
        self._position += len(piece)
        return len(piece)

    def take(self) -> bytes:
        """Return what was written, once."""
        taken = bytes(self._written)
        self._written.clear()
        return taken


def _batches(part: bytes) -> Iterator[list[bytes]]:
    """Yield the lines of a part in batches of about MAX_BATCH_BYTES. Pure."""
    batch: list[bytes] = []
    size = 0
    for line in part.splitlines():
        batch.append(line)
        size += len(line)
        if size >= MAX_BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _type_of(name: str) -> str:
    if name in _INTEGERS:
        return "integer"
    if name in _LISTS:
        return "list"
    return "time" if name.endswith("_at") else "text"


def _cell(value: Any, name: str) -> Any:
    """Return a value as its column has it: of a time beyond Python's years nothing. Pure."""
    match _type_of(name):
        case "time":
            return None if value is None else _time_of(str(value))
        case "text":
            if isinstance(value, (dict, list)):
                return write_json(value).decode()
            return None if value is None else str(value)
        case _:
            return value


def _time_of(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
