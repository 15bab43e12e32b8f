"""The statements of sql/queries/queue.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

START_WORKER = OneValue.named("start_worker")
"""sql/queries/queue.sql:3: Register a worker process; its id is never reused."""
COUNT_REGISTERED = OneValue.named("count_registered")
"""sql/queries/queue.sql:7: How many of these starts of processes have registered a worker."""
BEAT = OneRow.named("beat")
"""sql/queries/queue.sql:13: Heartbeat of a worker; is_known is false if it was declared lost and
must not write any more. The commit need not be on disk. What the worker has seen of this
database is compared with it: see see_server().
"""
SEE_SERVER = OneRow.named("see_server")
"""sql/queries/queue.sql:20: Compare what a process has seen with this database; what it has seen
now, and why no mail is sent.
"""
STOP_WORKER = NoRows.named("stop_worker")
"""sql/queries/queue.sql:25: Deregister a worker; mail that it holds returns to the queue."""
RESCUE_EMAILS = OneValue.named("rescue_emails")
"""sql/queries/queue.sql:29: Return mail of workers without a heartbeat, and of one launch known to
be dead; the number of mails.
"""
WATCH_RATES = OneValue.named("watch_rates")
"""sql/queries/queue.sql:33: Pause sender accounts with too many bounces or complaints; the number
paused.
"""
SEND_NOTICES = OneValue.named("send_notices")
"""sql/queries/queue.sql:37: Mail new notices for administrators and queue them for webhooks; the
number of causes that were told.
"""
NOTE_SENDER_USE = OneValue.named("note_sender_use")
"""sql/queries/queue.sql:41: Write into sender accounts when they were last used; the number of
accounts.
"""
PARK_WORKER = NoRows.named("park_worker")
"""sql/queries/queue.sql:45: Request a NOTIFY when there is mail; idempotent."""
UNPARK_WORKER = NoRows.named("unpark_worker")
"""sql/queries/queue.sql:51: Cancel the request for a NOTIFY."""
CLAIM_ROWS = ManyRows.named("claim_rows")
"""sql/queries/queue.sql:55: Take due rows of a queue table for a worker."""
ISOLATE_CLAIM = NoRows.named("isolate_claim")
"""sql/queries/queue.sql:60: In this transaction a claim of a table tries its rows in smaller parts,
and leaves out those whose change is refused.
"""
SETTLE_ROWS = ManyRows.named("settle_rows")
"""sql/queries/queue.sql:64: Write the outcomes of claimed rows; returns those whose claim no longer
holds.
"""
RENEW_ROWS = OneValue.named("renew_rows")
"""sql/queries/queue.sql:70: Extend the leases of claimed rows; returns how many claims still hold.
"""
RELEASE_ROWS = OneValue.named("release_rows")
"""sql/queries/queue.sql:74: Return the rows of a worker besides those that it holds; returns how
many.
"""
SUSPECT_ROWS = OneValue.named("suspect_rows")
"""sql/queries/queue.sql:78: Count a death of their worker on rows whose handling had begun; returns
how many claims still held.
"""
SUSPECT_EMAILS = OneValue.named("suspect_emails")
"""sql/queries/queue.sql:82: Count a death of their worker on mails whose handling had begun;
returns how many claims still held.
"""
REQUEUE_ROWS = OneValue.named("requeue_rows")
"""sql/queries/queue.sql:86: Queue rows again that failed, were cancelled or are held; returns how
many.
"""
SUSPECTED_QUEUES = ManyRows.named("suspected_queues")
"""sql/queries/queue.sql:90: Those of the queues that have due rows whose worker stopped before."""
UNATTENDED_QUEUES = ManyRows.named("unattended_queues")
"""sql/queries/queue.sql:95: Those of the queues that have due rows and no running worker."""
