"""Exports as Parquet are read by pyarrow, with the rows of the same export as lines of JSON."""

import io
import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyarrow import parquet as reader

from mailqueue.analytics.exports import parquet
from mailqueue.analytics.exports.model import COLUMNS
from mailqueue.contract.exports import ExportKind
from mailqueue.core.errors import InvalidField
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("kind", steps.KINDS)
async def test_a_file_has_the_rows_of_the_lines_of_json(
    database: DatabaseSettings, kind: ExportKind
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        for number in range(5):
            await steps.rows_of_each_kind(conn, project, number)
        lines = await steps.written(database, conn, project, kind.value, "ndjson")
        begun = await steps.begun(conn, project, kind.value, "parquet")
        await steps.worked(database)

        table = reader.read_table(io.BytesIO(await steps.bytes_of(conn, project, begun.id)))
        assert table.column_names == list(COLUMNS[kind])
        rows = [json.loads(line) for line in lines.splitlines()]
        assert len(rows) >= 5
        assert [_as_json(row) for row in table.to_pylist()] == [_as_json(row) for row in rows]


async def test_a_file_without_rows_has_its_columns(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        begun = await steps.begun(conn, project, "events", "parquet")
        await steps.worked(database)

        table = reader.read_table(io.BytesIO(await steps.bytes_of(conn, project, begun.id)))
        assert table.num_rows == 0
        assert table.column_names == list(COLUMNS[ExportKind.EVENTS])


def test_columns_have_the_types_of_what_they_hold() -> None:
    schema = reader.read_schema(io.BytesIO(_file(ExportKind.EMAILS, [])))
    types = {name: schema.field(name).type for name in ("created_at", "tags", "attempts", "id")}
    assert types == {
        "created_at": pa.timestamp("us", tz="UTC"),
        "tags": pa.list_(pa.string()),
        "attempts": pa.int64(),
        "id": pa.string(),
    }


@pytest.mark.parametrize(
    "hostile",
    [
        {"created_at": "20000-01-01T00:00:00+00:00"},
        {"created_at": "0044-03-15T00:00:00+00:00 BC"},
        {"subject": "=cmd|' /C calc'!A0 \u2028 \u0085 \\u0000 \r\n"},
        {"tags": []},
        {"tags": None},
    ],
)
def test_no_value_keeps_other_rows_from_a_file(hostile: dict[str, object]) -> None:
    plain = dict.fromkeys(COLUMNS[ExportKind.EMAILS]) | {"id": "a", "attempts": 1}
    table = reader.read_table(io.BytesIO(_file(ExportKind.EMAILS, [plain | hostile, plain])))

    first, second = table.to_pylist()
    assert (second["id"], second["attempts"]) == ("a", 1)
    (name,) = hostile
    assert first[name] == (None if name == "created_at" else hostile[name])


def test_row_groups_are_written_while_lines_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MAX_GROUP_ROWS", 3)
    monkeypatch.setattr(parquet, "MAX_BATCH_BYTES", 1)  # a line at a time
    plain = dict.fromkeys(COLUMNS[ExportKind.EMAILS])
    file = parquet.ParquetFile(ExportKind.EMAILS)
    pieces = [file.add(_line(plain | {"id": str(number)})) for number in range(8)]

    assert pieces[0] == b"PAR1"  # what each file begins with
    assert [number for number, piece in enumerate(pieces) if number and piece] == [2, 5]
    whole = reader.ParquetFile(io.BytesIO(b"".join(pieces) + file.finish()))
    assert [whole.metadata.row_group(n).num_rows for n in range(3)] == [3, 3, 2]
    assert whole.read()["id"].to_pylist() == [str(number) for number in range(8)]


def test_a_row_group_ends_by_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MAX_GROUP_BYTES", 10_000)
    monkeypatch.setattr(parquet, "MAX_BATCH_BYTES", 1)
    plain = dict.fromkeys(COLUMNS[ExportKind.EMAILS]) | {"subject": "x" * 4_000}
    file = parquet.ParquetFile(ExportKind.EMAILS)
    pieces = [file.add(_line(plain)) for _ in range(6)]

    assert [number for number, piece in enumerate(pieces) if number and piece] == [2, 5]


async def test_parquet_is_refused_where_pyarrow_is_missing(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "find_spec", lambda _: None)
    async with connect(database) as conn:
        project = await make.project_named(conn)
        with pytest.raises(InvalidField, match="pip install 'mailqueue\\[parquet\\]'") as refused:
            await steps.begun(conn, project, "emails", "parquet")
    assert refused.value.field == "format"


def _file(kind: ExportKind, rows: list[dict[str, object]]) -> bytes:
    file = parquet.ParquetFile(kind)
    return file.add(b"".join(_line(row) for row in rows)) + file.finish()


def _line(row: dict[str, object]) -> bytes:
    return json.dumps(row).encode() + b"\n"


def _as_json(row: dict[str, object]) -> dict[str, object]:
    """Return a row with times as instants, and objects as JSON text."""
    return {name: _plain(name, value) for name, value in row.items()}


def _plain(name: str, value: object) -> object:
    if name.endswith("_at") and isinstance(value, str):
        return datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, str) and value.startswith("{"):
        return json.loads(value)
    return value
