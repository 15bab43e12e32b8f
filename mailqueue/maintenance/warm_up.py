"""The task `warm-up`: end finished warm-ups, and report those with many bounces.

Stages advance by themselves, with each day on which mail was sent.
"""

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import TaskReport, WarmUp
from mailqueue.maintenance.store import tasks as tasks_store

FEWEST_SENT = 50
WORST_SHARE = 0.05
"""Share of bounced mail above which a warm-up is reported."""


async def run(context: MaintenanceContext) -> TaskReport:
    """End finished warm-ups."""
    ended = await tasks_store.end_warm_ups(context.conn, by=context.operator)
    ramps = await tasks_store.warm_ups(context.conn)
    counts = {"warming_up": len(ramps), "ended": len(ended)}
    names = "".join(f", {each.project}/{each.name} has finished" for each in ended)
    needs = tuple(_sentence(each) for each in ramps if exceeds_bounce_limit(each))
    return TaskReport(f"{len(ramps)} accounts in warm-up{names}", counts, needs)


def exceeds_bounce_limit(ramp: WarmUp) -> bool:
    """Return whether too much of today's mail bounced. Pure."""
    return ramp.daily_sent >= FEWEST_SENT and ramp.daily_bounces > WORST_SHARE * ramp.daily_sent


def _sentence(ramp: WarmUp) -> str:
    return (
        f"{ramp.daily_bounces} of {ramp.daily_sent} mails of {ramp.project}/{ramp.sender} bounced "
        f"today, in stage {ramp.stage} of its warm-up: pause it (mailqueue sender pause "
        f"{ramp.sender} --project {ramp.project}) and check the addresses"
    )
