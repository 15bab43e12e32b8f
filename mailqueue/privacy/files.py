"""Last stage of an erasure: what only the person received, and archive files."""

from collections.abc import Mapping
from typing import Any

from mailqueue.db.fetch import Conn, Lend
from mailqueue.maintenance import tasks
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Task
from mailqueue.privacy import archives, store
from mailqueue.privacy.model import Erasure, ErasureStage

NEEDS_DESK = "archive files or attachments outside the database remain"


async def erase_contents(conn: Conn, erasure: Erasure, *, by: str) -> bool:
    """Erase what only the person received, and complete the erasure where nothing is outside the
    database; return whether it is complete.
    """
    place = erasure.place
    if place.get("locations") or await store.has_archives(conn, erasure.project_id):
        return False
    contents = [int(each) for each in place.get("contents", {})]
    locations = await store.erase_contents(conn, erasure.id, contents)
    stage, left = ErasureStage.DONE, dict[str, Any]()
    if locations:  # kept until the files are deleted: their rows are gone
        stage, left = ErasureStage.FILES, {**place, "contents": {}, "locations": locations}
    await store.move(
        conn, erasure.id, stage, left, table="email_contents", rows=len(contents), by=by
    )
    return not locations


async def erase_files(
    lend: Lend, erasure: Erasure, *, context: MaintenanceContext | None, by: str
) -> str | None:
    """Erase them; return the reason where a step must be done by hand.

    Raises:
        ArchiveBroken, Conflict, Unavailable: a file cannot be read or written now.
    """
    async with lend() as conn:
        has_archives = await store.has_archives(conn, erasure.project_id)
    if has_archives and context is None:
        return NEEDS_DESK
    if has_archives and context is not None:
        async with tasks.locked(context, Task.ARCHIVE):
            return await _rest(lend, erasure, context=context, by=by, with_archives=True)
    return await _rest(lend, erasure, context=context, by=by, with_archives=False)


async def _rest(
    lend: Lend,
    erasure: Erasure,
    *,
    context: MaintenanceContext | None,
    by: str,
    with_archives: bool,
) -> str | None:
    person = archives.person_of(erasure)
    contents: Mapping[str, Any] = erasure.place.get("contents", {})
    doomed, keys = set[str](), list[str]()
    if with_archives and context is not None:
        contents, keys = await archives.with_archived(context, person, contents)
        doomed = await archives.files_of(context, person, contents)
    locations = list(erasure.place.get("locations", ()))
    async with lend() as conn:
        # Stored before contents are blanked: afterwards no search finds them.
        place = {**erasure.place, "contents": contents}
        await store.move(conn, erasure.id, ErasureStage.FILES, place, by=by)
        locations += await store.erase_contents(conn, erasure.id, [int(each) for each in contents])
        if keys:
            await store.erase_keys(conn, erasure.id, keys)
        locations += await store.erase_attachments(conn, erasure.id, sorted(doomed))
        # Kept until the files are deleted: their rows are gone.
        place |= {"locations": locations}
        await store.move(
            conn,
            erasure.id,
            ErasureStage.FILES,
            place,
            table="email_contents",
            rows=len(contents),
            by=by,
        )
    if with_archives and context is not None:
        count = await archives.rewrite_all(context, person, contents, doomed=doomed)
        async with lend() as conn:
            await store.move(
                conn, erasure.id, ErasureStage.FILES, place, table="archives", rows=count, by=by
            )
    if locations:
        if context is None:
            return NEEDS_DESK
        await _delete(context, locations)
    async with lend() as conn:
        await store.move(conn, erasure.id, ErasureStage.DONE, {}, by=by)
    return None


async def _delete(context: MaintenanceContext, locations: list[str]) -> None:
    """Delete attachments; files outside our storages are left to their owner."""
    for location in locations:
        found = context.stores.attachments.place_of(location)
        if found is not None:
            await found[0].delete(found[1])
