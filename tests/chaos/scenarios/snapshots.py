"""A transaction that holds its snapshot while mail is sent, so that no dead row is removed."""

from tests import make
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize

_FINISHED = "SELECT count(*) FROM mailqueue.email_history"
_AGE = """
SELECT coalesce(max(age(backend_xmin)), 0) FROM pg_stat_activity
 WHERE datname = current_database() AND state = 'idle in transaction'
"""


async def held_throughout(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Mail is sent as usual; the cost is measured in `bench/`."""
    async with sandbox.session() as conn, sandbox.session() as holder, sandbox.workers(2):
        await holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await make.scalar(holder, _FINISHED)
        async with sandbox.producing(size.mails, seconds=size.seconds) as mails:
            await mails.done.wait()
        await sandbox.settled(conn)
        faults = await make.scalar(conn, _AGE)
        seen = await make.scalar(holder, _FINISHED)
        await holder.execute("ROLLBACK")
        fault = "snapshot held, transactions old"
        found = await sandbox.compare(conn, fault, faults=faults, accepted=mails.accepted)
    found.promise(seen == 0, f"the snapshot was not held: it sees {seen} finished mails")
    found.promise(found.statuses["sent"] == size.mails, f"{found.statuses}")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    return found
