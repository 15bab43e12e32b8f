"""Attachments in folders and buckets: move large ones there, delete those past retention."""

import hashlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.mail.message.file_storage import DRAFT_PREFIX, AttachmentStorage
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.store import files as files_store
from mailqueue.maintenance.store.files import LargeFile
from mailqueue.ports.filestore import Store

MOVED = "moved"
"""Files counted under this name are not deleted."""
YOUNG = timedelta(days=1)
"""Age below which a file may belong to mail that is being accepted."""
_OURS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/[0-9a-f]{64}-[0-9a-f]{12}")


async def sweep(context: MaintenanceContext, *, needs: list[str]) -> dict[str, int]:
    """Move large files out of the database and delete files past retention; return the counts.

    What fails is added to `needs`. Files of another database are never deleted: only folders of
    projects of this database are listed.
    """
    counts = {"attachments": await files_store.sweep(context.conn), "files": 0, MOVED: 0}
    storage = context.stores.attachments
    try:
        async for file in _large(context.conn, storage):
            counts[MOVED] += await _move_out(context.conn, storage, file)
        for store in storage.places:
            _forget_drafts(store)
            counts["files"] += await _delete_unnamed(context.conn, store)
    except MailqueueError as exc:
        needs.append(str(exc))
    return counts


async def _large(conn: Conn, storage: AttachmentStorage) -> AsyncIterator[LargeFile]:
    """Yield large files in the database: SQL stores files there."""
    after: LargeFile | None = None
    while storage.places and (
        some := await files_store.list_large(conn, storage.over_bytes, after=after)
    ):
        for one in some:
            yield one
        after = some[-1]


async def _move_out(conn: Conn, storage: AttachmentStorage, file: LargeFile) -> int:
    octets = await files_store.read_octets(conn, file)
    if octets is None:
        return 0
    sha256 = hashlib.sha256(octets).digest()
    with storage.draft() as path:
        path.write_bytes(octets)
        location = await storage.put(file.project_id, path, size=len(octets), sha256=sha256)
    return await files_store.move_out(conn, file, location=location)


async def _delete_unnamed(conn: Conn, store: Store) -> int:
    count = 0
    for project in await files_store.list_projects(conn):
        async for some in store.listed(str(project)):
            before = datetime.now(UTC) - YOUNG
            ours = [one for one in some if one.changed_at < before and _OURS.fullmatch(one.path)]
            path_by_place = {f"{store.url}/{one.path}": one.path for one in ours}
            known = await files_store.known(conn, list(path_by_place))
            for place, path in path_by_place.items():
                if place not in known:
                    await store.delete(path)
                    count += 1
    return count


def _forget_drafts(store: Store) -> None:
    """Delete drafts of killed processes."""
    if store.drafts is None:
        return
    before = (datetime.now(UTC) - YOUNG).timestamp()
    for path in store.drafts.glob(f"{DRAFT_PREFIX}*"):
        if path.stat().st_mtime < before:
            path.unlink(missing_ok=True)
