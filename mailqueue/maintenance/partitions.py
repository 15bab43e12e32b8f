"""Create monthly partitions ahead of time, and drop empty old ones while inserts continue."""

import asyncio
from datetime import date

from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.mail.send.partitions import MONTHS_AHEAD
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Partition, TaskReport
from mailqueue.maintenance.store import tasks as tasks_store

TOO_FEW_DAYS = 7
KEPT_MONTHS = 2
"""The current and the previous month are never dropped: rows may still be inserted."""
PATIENCE_SECONDS = 30.0
_PAUSE_SECONDS = 1.0


async def run(context: MaintenanceContext, *, patience: float = PATIENCE_SECONDS) -> TaskReport:
    """Create the partitions of coming months; drop old empty ones."""
    conn = context.conn
    made = await tasks_store.ensure_months_ahead(conn, MONTHS_AHEAD)
    needs = await _too_few(conn)
    stuck = await finish_detaching(conn, patience=patience)
    dropped = 0
    for partition in _retirable(
        await tasks_store.partitions(conn), today=await tasks_store.today(conn)
    ):
        if any(name.startswith(f"{partition.parent}_") for name in stuck):
            continue  # a transaction that reads one partition may read them all
        if not await tasks_store.is_empty(conn, partition):
            if partition.state == "detached":
                await tasks_store.make_partitions_of(conn, partition.month)
        elif not await _detached(conn, partition, patience=patience):
            stuck.append(partition.name)
        elif await _dropped(conn, partition):
            dropped += 1
    if stuck:
        needs.append(await _why_stuck(conn, stuck))
    counts = {"made": made, "retired": dropped}
    return TaskReport(f"{made} created, {dropped} dropped", counts, tuple(needs))


async def finish_detaching(conn: Conn, *, patience: float = PATIENCE_SECONDS) -> list[str]:
    """Finish an interrupted detach; return the partitions that are still being read."""
    return [
        each.name
        for each in await tasks_store.partitions(conn)
        if each.state == "detaching" and not await _detached(conn, each, patience=patience)
    ]


def _retirable(partitions: list[Partition], *, today: date) -> list[Partition]:
    """Return the partitions old enough to be dropped. Pure."""
    months = today.year * 12 + today.month - KEPT_MONTHS
    return [
        each
        for each in partitions
        if each.state != "detaching" and each.month.year * 12 + each.month.month <= months
    ]


async def _detached(conn: Conn, partition: Partition, *, patience: float) -> bool:
    """Detach a partition once no transaction reads it; return False if one does for too long."""
    for _ in range(max(1, round(patience / _PAUSE_SECONDS))):
        match (await tasks_store.partition_named(conn, partition.name)).state:
            case "detached":
                return True
            case "detaching":
                await tasks_store.finish_detaching(conn, partition)
            case _:
                await tasks_store.detach(conn, partition)
                reach("partition.detached")
        if (await tasks_store.partition_named(conn, partition.name)).state == "detached":
            return True
        await asyncio.sleep(_PAUSE_SECONDS)
    return False


async def _dropped(conn: Conn, partition: Partition) -> bool:
    """Drop a detached partition; attach it again if rows arrived at the last moment."""
    if not await tasks_store.is_empty(conn, partition):
        await tasks_store.make_partitions_of(conn, partition.month)
        return False
    reach("partition.dropping")
    return await tasks_store.drop(conn, partition)


async def _too_few(conn: Conn) -> list[str]:
    days = await tasks_store.days_ahead(conn)
    if days >= TOO_FEW_DAYS:
        return []
    return [
        f"monthly tables have partitions for {days} more days only: find out why "
        "`SELECT mailqueue.ensure_partitions(3)` fails"
    ]


async def _why_stuck(conn: Conn, names: list[str]) -> str:
    holders = await tasks_store.horizon_holders(conn, seconds=PATIENCE_SECONDS)
    holder = holders[0] if holders else "look for old transactions in pg_stat_activity"
    return f"{', '.join(names)} cannot be dropped while a transaction may read it: {holder}"
