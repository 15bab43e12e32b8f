"""A server that refuses everything temporarily, and mail that is retried by its schedule."""

from collections import Counter
from datetime import timedelta
from math import sqrt

from mailqueue.db.fetch import Conn
from tests import make
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize, hasten
from tests.chaos.sink.faults import RCPT, Fault
from tests.concurrency.running import until

LADDER = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))
"""The promised waits after the first, second and third attempt, plus or minus JITTER."""
JITTER = 0.2
LONGEST_WAIT = "2 hours"
BUCKETS, MAX_OVER_MEAN, DEVIATIONS = 20, 3.0, 8.0
_REFUSED = """
SELECT count(*) = %s FROM mailqueue.email_queue
 WHERE status = 'pending' AND attempts = %s AND run_at > clock_timestamp()
"""
_WAITS = """
SELECT q.run_at - max(g.sent_at) FROM mailqueue.email_queue AS q
  JOIN mailqueue.send_logs AS g ON g.email_id = q.id GROUP BY q.id, q.run_at
"""


async def refused_for_now(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """451 to everything, for three attempts: each mail waits by the schedule, retries are
    spread.
    """
    await sandbox.sink.obey(Fault.TEMPORARY, at=RCPT)
    late: list[str] = []
    async with (
        sandbox.session() as conn,
        sandbox.workers(2),
        sandbox.producing(size.mails, seconds=size.seconds) as mails,
    ):
        await mails.done.wait()
        for attempt in range(1, len(LADDER) + 1):
            await _all_refused(conn, size, attempt)
            late += _faults(attempt, [wait for (wait,) in await make.rows(conn, _WAITS)])
            if attempt < len(LADDER):
                await hasten(conn, LONGEST_WAIT)
        faults = (await sandbox.sink.obey(Fault.NONE)).faults
        await hasten(conn, LONGEST_WAIT)
        await sandbox.settled(conn)
        found = await sandbox.compare(conn, "451 at RCPT", faults=faults, accepted=mails.accepted)
    found.broken += late
    sent = found.statuses["sent"]
    found.promise(sent == size.mails, f"{sent} of {size.mails} were sent")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    wanted = len(LADDER) * size.mails
    found.promise(faults == wanted, f"{faults} attempts where {wanted} were due")
    return found


async def _all_refused(conn: Conn, size: ScenarioSize, attempt: int) -> None:
    async def all_wait() -> bool:
        return bool(await make.scalar(conn, _REFUSED, size.mails, attempt))

    await until(all_wait, seconds=size.patience)


def _faults(attempt: int, waits: list[timedelta]) -> list[str]:
    """Return where waits differ from the schedule or retries come together."""
    step = LADDER[attempt - 1]
    least, most = step * (1 - JITTER), step * (1 + JITTER)
    slack = timedelta(seconds=1)
    outside = [wait for wait in waits if not least - slack <= wait <= most + slack]
    if outside:
        return [f"attempt {attempt}: {len(outside)} waits off the schedule, such as {outside[0]}"]
    crowd = Counter(int((wait - least) / (most - least) * BUCKETS) for wait in waits)
    mean, most_together = len(waits) / BUCKETS, max(crowd.values())
    # Of few mails chance alone puts many together: not once in a million runs as many as this.
    if most_together > max(MAX_OVER_MEAN * mean, mean + DEVIATIONS * sqrt(mean)):
        return [f"attempt {attempt}: {most_together} of {len(waits)} come back together"]
    return []
