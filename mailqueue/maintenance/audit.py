"""The task `audit`: seal the audit log, and delete its rows past their retention."""

from functools import partial

from mailqueue.audit import seal
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Task, TaskReport


async def run(context: MaintenanceContext) -> TaskReport:
    """Seal new rows, then delete old ones with their seals."""
    master = context.master_key()
    if master is None:
        return TaskReport("the audit log is not sealed: no master key is set")
    call_with_retries = partial(context.call_with_retries, Task.AUDIT)
    done = await seal.seal(context.conn, master, call_with_retries=call_with_retries)
    cut = await seal.cut(
        context.conn,
        context.reader,
        master,
        call_with_retries=call_with_retries,
        by=context.operator,
    )
    said = f"{done.rows} audit rows sealed"
    if done.changes:
        said += f", {done.changes} sealed again after a permitted change"
    if cut:
        said += f", {cut} past their retention deleted"
    counts = {"sealed": done.rows, "changed": done.changes, "deleted": cut}
    return TaskReport(said, counts, done.refused)
