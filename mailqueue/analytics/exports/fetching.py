"""Read the file of an export, part by part."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from uuid import UUID

from mailqueue.analytics.exports import parquet, store, writing
from mailqueue.contract.exports import DataExport, ExportFormat
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Lend


async def begin_file(
    lend: Lend, project_id: UUID, export: DataExport, *, by: str
) -> AsyncIterator[bytes]:
    """Record that a file is fetched, and return its pieces.

    A connection is lent for one part at a time: a slow reader holds none in between.

    Raises:
        Conflict: the export is not done, or its file is gone.
    """
    if export.state != "done":
        raise Conflict(f"the file of export {export.id} is not there: {export.state}")
    async with lend() as conn:
        await store.note_fetched(conn, project_id, export.id, by=by)
    parts = _parts(lend, project_id, export)
    return (
        _parquet(parts, export) if export.format is ExportFormat.PARQUET else _text(parts, export)
    )


async def _text(parts: AsyncIterator[bytes], export: DataExport) -> AsyncIterator[bytes]:
    """Yield the pieces of a file of text."""
    yield writing.opening(export.kind, export.format)
    separator = b""
    async for part in parts:
        yield separator + part
        separator = writing.between(export.format)
    yield writing.closing(export.format)


async def _parquet(parts: AsyncIterator[bytes], export: DataExport) -> AsyncIterator[bytes]:
    """Yield the pieces of a file of Parquet: a row group at a time."""
    file = await asyncio.to_thread(parquet.ParquetFile, export.kind)
    async for part in parts:
        if piece := await asyncio.to_thread(file.add, part):
            yield piece
    yield await asyncio.to_thread(file.finish)


async def _parts(lend: Lend, project_id: UUID, export: DataExport) -> AsyncIterator[bytes]:
    """Yield the parts of a file, as workers wrote them.

    Raises:
        Conflict: the file was deleted meanwhile; what was yielded is not complete.
    """
    size, number = 0, 0
    while size < export.bytes:
        async with lend() as conn:
            data = await store.read_part(conn, project_id, export.id, number)
        if data is None:
            raise Conflict(f"the file of export {export.id} was deleted while it was read")
        part = await asyncio.to_thread(zlib.decompress, data)  # of a person's mail: maybe 25 MiB
        yield part
        size += len(part)
        number += 1
