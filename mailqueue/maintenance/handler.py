"""The handler of queue `maintenance`: run a task of `mailqueue maintain` when it is due."""

from datetime import timedelta
from typing import NamedTuple, Never
from uuid import UUID

from mailqueue.core.errors import MailqueueError
from mailqueue.core.outcome import Again, Defer, Failed, Outcome
from mailqueue.maintenance import tasks
from mailqueue.maintenance.context import OpenContext
from mailqueue.maintenance.model import Task
from mailqueue.queue.handler import Handler
from mailqueue.telemetry.log import get_logger

BUSY_WAIT = timedelta(minutes=1)
"""Wait while another process runs the task, or another session holds a lock that it needs."""
BLOCKED_WAIT = timedelta(minutes=15)
"""Wait after a run that was not possible, such as without the rights of the schema's owner."""

log = get_logger(__name__)


class ClaimedTask(NamedTuple):
    """A claimed row of maintenance_tasks."""

    id: UUID
    claim_no: int
    task: str
    every: timedelta


class MaintenanceHandler(Handler[ClaimedTask, Never]):
    """Runs tasks; `tasks.run` records each run."""

    row = ClaimedTask

    def __init__(self, open_context: OpenContext) -> None:
        self.open_context = open_context

    async def handle(self, row: ClaimedTask) -> Outcome:
        if row.task not in set(Task):
            return Failed(f"this release has no task {row.task}")
        try:
            async with self.open_context() as context:
                [result] = await tasks.run(context, [Task(row.task)], tell=lambda _: None)
        except MailqueueError as exc:
            return Defer(str(exc), BLOCKED_WAIT)
        if result.is_busy:
            return Defer(result.report.summary, BUSY_WAIT)
        if result.is_stopped:
            wait = BUSY_WAIT if result.is_transient else BLOCKED_WAIT
            return Defer("; ".join(result.report.needs), wait)
        report = result.report
        log.info("maintenance.done", task=row.task, result=report.summary, counts=report.counts)
        return Again(row.every)
