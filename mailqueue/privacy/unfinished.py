"""Finish erasures that were begun by the API, or by a process that stopped, at once."""

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import erasing, store
from mailqueue.privacy.model import ErasureProgress
from mailqueue.privacy.persons import lending


async def finish_all(
    context: MaintenanceContext, *, by: str, joins: bool = True
) -> list[ErasureProgress]:
    """Continue every erasure that is not done; return the progress of each.

    One that another process works on is awaited with `joins`, else skipped.

    Raises:
        ArchiveBroken, Conflict, Unavailable: a file cannot be read or written; erasures before it
            are done.
    """
    return [
        await erasing.go_on(lending(context.conn), each, context=context, by=by, joins=joins)
        for each in await store.unfinished(context.conn)
    ]
