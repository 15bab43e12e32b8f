"""Erases a person step by step: each step commits, and a later process resumes where it ended.

Mail first, with its tables; then every table that may name them, page by page, until a whole round
finds nothing; then what only they were sent, and the files of the archive.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from mailqueue.core.errors import LeaseLost, MailqueueError, NotFound
from mailqueue.db.fetch import Conn, Lend
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import store
from mailqueue.privacy.files import erase_contents, erase_files
from mailqueue.privacy.lease import ErasureLease
from mailqueue.privacy.model import Erasure, ErasureProgress, ErasureStage, Table, TablePart
from mailqueue.privacy.pattern import search_of

MAILS_TOGETHER = 200
"""Mails that one statement erases."""
TABLES_TOGETHER = 100
"""Small tables that one step looks through."""
LOOK_SECONDS = 0.5
MAX_ROUNDS = 5
"""So often every table is looked through: rows that others move meanwhile are met again."""


async def begin(
    lend: Lend, project_id: UUID, spellings: Sequence[str], *, suppress: bool = False, by: str
) -> UUID:
    """Begin to erase a person, or find where that is under way; return its id.

    What suppresses them goes on doing so, by a hash. With `suppress` nothing at all is sent to them
    from now on.
    """
    async with lend() as conn:
        return await store.begin(conn, project_id, spellings, suppress=suppress, by=by)


async def get(conn: Conn, erasure_id: UUID) -> Erasure:
    """Return an erasure.

    Raises:
        NotFound: there is no such one.
    """
    found = await store.find(conn, erasure_id)
    if found is None:
        raise NotFound("erasure", erasure_id)
    return found


async def go_on(
    lend: Lend,
    erasure_id: UUID,
    *,
    context: MaintenanceContext | None = None,
    by: str,
    patience_seconds: float = 0.0,
    may_go_on: Callable[[], bool] = lambda: True,
    joins: bool = True,
) -> ErasureProgress:
    """Do what is left to do, as long as `may_go_on`; return how far it is.

    Without a context of maintenance, files are left for a process that has one. Mail that a worker
    holds is waited for up to `patience_seconds`; a later process does the rest. One process at a
    time erases: with `joins`, wait for the end of another's work, then do what that leaves.

    Raises:
        NotFound: there is no such erasure.
        ArchiveBroken, Unavailable: a file cannot be read or written now; run it again.
    """
    tenure = ErasureLease(lend, erasure_id)
    waited_until = asyncio.get_running_loop().time() + patience_seconds
    while True:
        try:
            found = await _go_on_alone(
                tenure, context=context, by=by, waited_until=waited_until, may_go_on=may_go_on
            )
        except LeaseLost:
            async with lend() as conn:
                found = ErasureProgress(await get(conn, erasure_id), is_elsewhere=True)
        except MailqueueError:
            await tenure.end()
            raise
        else:
            await tenure.end()
        if found.is_done or not found.is_elsewhere or not joins or not may_go_on():
            return found
        await asyncio.sleep(LOOK_SECONDS)


async def _go_on_alone(
    tenure: ErasureLease,
    *,
    context: MaintenanceContext | None,
    by: str,
    waited_until: float,
    may_go_on: Callable[[], bool],
) -> ErasureProgress:
    """Erase step by step.

    Raises:
        LeaseLost: another process is erasing.
    """
    while True:
        waiting, needs = 0, None
        async with tenure.lend() as conn:
            erasure = await get(conn, tenure.erasure_id)
            match ErasureStage(erasure.stage):
                case ErasureStage.DONE:
                    return ErasureProgress(erasure)
                case ErasureStage.MAIL:
                    waiting = await _mail(conn, erasure, by=by)
                case ErasureStage.TABLES:
                    await _tables(conn, erasure, by=by)
                case ErasureStage.FILES:
                    if await erase_contents(conn, erasure, by=by):
                        await tenure.end_in(conn)
                        return ErasureProgress(await get(conn, erasure.id))
                    erasure = await get(conn, erasure.id)
        if erasure.stage == ErasureStage.FILES:
            async with tenure.kept_by(context):
                needs = await erase_files(tenure.lend, erasure, context=context, by=by)
        if needs is not None:
            return ErasureProgress(erasure, needs=needs)
        if waiting:
            if asyncio.get_running_loop().time() >= waited_until:
                return ErasureProgress(erasure, waiting)
            await asyncio.sleep(LOOK_SECONDS)
        if not may_go_on():
            return ErasureProgress(erasure)


async def _mail(conn: Conn, erasure: Erasure, *, by: str) -> int:
    """Do one batch; return how many mails a worker holds where nothing else is left."""
    step = await store.erase_mail(conn, erasure.id, limit=MAILS_TOGETHER)
    if 0 < step.changed < MAILS_TOGETHER:  # the last ones, unless others have come
        step = await store.erase_mail(conn, erasure.id, limit=MAILS_TOGETHER)
    if step.changed:
        return 0
    if not step.waiting:
        await store.move(conn, erasure.id, ErasureStage.TABLES, None, by=by)
    return step.waiting


async def _tables(conn: Conn, erasure: Erasure, *, by: str) -> None:
    """Look through some pages of a large table, or through several small ones."""
    place = dict(erasure.place) if isinstance(erasure.place, dict) else {}
    room, stage = 1.0, ErasureStage.TABLES
    while room > 0 and stage is ErasureStage.TABLES:
        tables = await store.tables(conn)
        parts = _next_parts(tables, place, room)
        room -= sum(part.share for part in parts)
        if parts:
            contents = dict(place.get("contents", {}))
            step = await store.erase_mentions(
                conn,
                erasure.id,
                parts,
                pattern=search_of(erasure.spellings),
                contents=[int(each) for each in contents],
            )
            for shared in step.shared:
                contents.pop(str(shared), None)
            changed = int(place.get("changed", 0)) + step.changed
            place |= {"contents": contents, "changed": changed}
        if _place_in(tables, place) is None:
            if not place.get("changed") or place.get("round", 1) >= MAX_ROUNDS:
                stage = ErasureStage.FILES
            place = _next_round(place)
    await store.move(conn, erasure.id, stage, place, by=by)


def _next_parts(tables: Sequence[Table], place: dict[str, Any], room: float) -> list[TablePart]:
    """Return what is looked through next, up to the end of the round; move `place` behind it."""
    parts = list[TablePart]()
    while room > 0 and (at := _place_in(tables, place)) is not None:
        table = tables[at]
        first = int(place.get("page", 0))
        # Number of pages at the start: rows inserted meanwhile need no check.
        last = int(place.get("pages", table.pages))
        pages = range(first, min(first + table.step, last))
        parts.append(
            TablePart(table.name, pages, max(len(pages) / table.step, 1 / TABLES_TOGETHER))
        )
        room -= parts[-1].share
        if pages.stop >= last:
            place |= {"done": table.name, "page": 0}
            place.pop("pages", None)
        else:
            place |= {"page": pages.stop, "pages": last}
    return parts


def _place_in(tables: Sequence[Table], place: dict[str, Any]) -> int | None:
    """Return which table is next; None at the end of a round. Pure."""
    done = place.get("done")
    names = [each.name for each in tables]
    if done is None:
        return 0
    if done in names:
        at = names.index(done) + 1
    else:  # a month that is gone: everything from its name on
        at = next((n for n, name in enumerate(names) if n > 1 and name > done), len(names))
    return at if at < len(names) else None


def _next_round(place: dict[str, Any]) -> dict[str, Any]:
    return {"contents": place.get("contents", {}), "round": int(place.get("round", 1)) + 1}
