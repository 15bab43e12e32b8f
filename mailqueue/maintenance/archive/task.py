"""The task `archive`: archive old months, move old files to the cold store, purge expired ones."""

from collections.abc import Awaitable

from mailqueue.core.errors import MailqueueError
from mailqueue.maintenance.archive.due import DueRecords, leaving
from mailqueue.maintenance.archive.file_format import forget_drafts
from mailqueue.maintenance.archive.rewrite import delete_leftovers, move
from mailqueue.maintenance.archive.write_month import WrittenFile, carry_on
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Archive, TaskReport
from mailqueue.maintenance.store import archives as archives_store


async def run(context: MaintenanceContext) -> TaskReport:
    """Run all steps; a step that fails is reported and does not stop the others."""
    day = _Day(context)
    await day.go_on()
    await day.begin()
    await day.cool()
    await day.purge()
    return day.report()


class _Day:
    """One run and its results."""

    def __init__(self, context: MaintenanceContext) -> None:
        self._context = context
        self._files = self._records = self._bytes = self._cooled = self._purged = 0
        self._needs: list[str] = []

    async def go_on(self) -> None:
        """Finish files begun by an earlier run."""
        store = self._context.stores.warm
        if store is not None:
            forget_drafts(store)
        await self._tried(delete_leftovers(self._context))
        for archive in await archives_store.unfinished(self._context.conn):
            await self._carry_on(archive)

    async def begin(self) -> None:
        """Archive records that became old enough."""
        waiting = 0
        async for each in leaving(self._context.conn):
            if each.due.is_deleted:
                continue  # the task `retention` deletes it
            if self._context.stores.warm is None:
                waiting += 1
            elif not await self._is_held(each):
                await self._carry_on(await self._started(each, self._context.stores.warm.url))
        if waiting:
            self._needs.append(
                f"{waiting} months of records are old enough for the archive, which has no store: "
                "set MAILQUEUE_ARCHIVE to a folder or to s3://bucket/prefix"
            )

    async def cool(self) -> None:
        """Move old files to the cold store."""
        cold = self._context.stores.cold
        if cold is None:
            return
        for archive in await archives_store.cooling(self._context.conn):
            if await self._tried(move(self._context, archive, store=cold, tier="cold")):
                self._cooled += 1

    async def purge(self) -> None:
        """Delete files whose retention is over."""
        self._purged = await archives_store.purge(self._context.conn)
        await self._tried(delete_leftovers(self._context))

    def report(self) -> TaskReport:
        counts = {
            "files": self._files,
            "records": self._records,
            "bytes": self._bytes,
            "cooled": self._cooled,
            "purged": self._purged,
        }
        said = f"{self._records} records into {self._files} files ({self._bytes} bytes)"
        if self._cooled:
            said += f", {self._cooled} files moved to the cold store"
        if self._purged:
            said += f", {self._purged} files purged"
        return TaskReport(said, counts, tuple(self._needs))

    async def _carry_on(self, archive: Archive) -> None:
        was_restored = archive.keep_until is not None
        try:
            made = await carry_on(self._context, archive)
        except MailqueueError as exc:
            self._needs.append(str(exc))
        except (LookupError, ValueError, ArithmeticError) as exc:  # a row that no task wrote
            self._needs.append(f"file {archive.id}: {type(exc).__name__}: {exc}")
        else:
            self._count(made, is_new=not was_restored)

    def _count(self, written: WrittenFile, *, is_new: bool) -> None:
        if is_new and written.records:
            self._files += 1
            self._records += written.records
            self._bytes += written.bytes

    async def _started(self, each: DueRecords, store: str) -> Archive:
        return await archives_store.start(
            self._context.conn,
            project_id=each.due.project_id,
            kind=each.kind,
            month=each.month,
            store=store,
            host=self._context.host,
        )

    async def _is_held(self, each: DueRecords) -> bool:
        return await archives_store.is_held_in_table(
            self._context.conn, project_id=each.due.project_id, kind=each.kind, month=each.month
        )

    async def _tried(self, work: Awaitable[object]) -> bool:
        try:
            await work
        except MailqueueError as exc:
            self._needs.append(str(exc))
            return False
        return True
