"""Read the file of an export, part by part."""

import zlib
from collections.abc import AsyncIterator
from uuid import UUID

from mailqueue.analytics.exports import store, writing
from mailqueue.contract.exports import DataExport
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
    return _pieces(lend, project_id, export)


async def _pieces(lend: Lend, project_id: UUID, export: DataExport) -> AsyncIterator[bytes]:
    """Yield the pieces of a file.

    Raises:
        Conflict: the file was deleted meanwhile; what was yielded is not complete.
    """
    yield writing.opening(export.kind, export.format)
    size, number = 0, 0
    while size < export.bytes:
        async with lend() as conn:
            data = await store.read_part(conn, project_id, export.id, number)
        if data is None:
            raise Conflict(f"the file of export {export.id} was deleted while it was read")
        piece = zlib.decompress(data)
        yield writing.between(export.format) + piece if number else piece
        size += len(piece)
        number += 1
    yield writing.closing(export.format)
