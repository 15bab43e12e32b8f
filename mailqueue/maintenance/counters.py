"""The task `counters`: close the counts of past days, count accepted mail if no worker did, and
correct what projects use of their bounds.
"""

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import TaskReport
from mailqueue.maintenance.store import tasks as tasks_store

_MAX_GATHERS = 10_000
"""Most batches in one run, of up to 5,000 signals each: mail may arrive faster than it is
counted.
"""


async def run(context: MaintenanceContext) -> TaskReport:
    """Gather signals and close past days; workers also do both."""
    counts = {
        "signals": await _gather(context),
        "days": await tasks_store.roll_days_over(context.conn),
        "corrected": await tasks_store.recount_usage(context.conn),
    }
    said = f"{counts['days']} counters moved to a new day, {counts['signals']} signals gathered"
    if counts["corrected"]:
        said += f", usage of {counts['corrected']} projects corrected"
    return TaskReport(said, counts)


async def _gather(context: MaintenanceContext) -> int:
    total = 0
    for _ in range(_MAX_GATHERS):
        found = await tasks_store.gather_signals(context.conn)
        if found <= 0:
            break
        total += found
        context.advance(found)
    return total
