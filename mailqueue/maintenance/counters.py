"""The task `counters`: days that are over, and accepted mail that no worker came by to count."""

from mailqueue.maintenance.context import Desk
from mailqueue.maintenance.model import Report
from mailqueue.maintenance.store import tasks as tasks_store

_MAX_GATHERS = 10_000
"""A bound: each takes up to 5,000 signals, and mail may come faster than one can count."""


async def run(desk: Desk) -> Report:
    """Count and roll over; workers do both too, whenever they come by."""
    counts = {"signals": await _gather(desk), "days": await tasks_store.roll_days_over(desk.conn)}
    said = f"{counts['days']} counters set to a new day, {counts['signals']} signals gathered"
    return Report(said, counts)


async def _gather(desk: Desk) -> int:
    total = 0
    for _ in range(_MAX_GATHERS):
        found = await tasks_store.gather_signals(desk.conn)
        if found <= 0:
            break
        total += found
        desk.advance(found)
    return total
