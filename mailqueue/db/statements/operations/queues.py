"""The statements of sql/queries/operations/queues.sql."""

from mailqueue.db.sql import ManyRows

# Written by python -m tests.rules.constants --write

LIST_QUEUE_ROWS = ManyRows.named("list_queue_rows")
"""sql/queries/operations/queues.sql:3: Rows of one queue or of all, newest first."""
LIST_QUEUE_KEYS = ManyRows.named("list_queue_keys")
"""sql/queries/operations/queues.sql:11: Keys of queues that are in trouble."""
REQUEUE_QUEUE_ROWS = ManyRows.named("requeue_queue_rows")
"""sql/queries/operations/queues.sql:16: Queue rows again that failed or are held; how many of each
queue.
"""
CANCEL_QUEUE_ROWS = ManyRows.named("cancel_queue_rows")
"""sql/queries/operations/queues.sql:22: Fail rows that wait; how many of each queue."""
