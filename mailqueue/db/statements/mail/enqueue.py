"""The statements of sql/queries/mail/enqueue.sql."""

from mailqueue.db.sql import ManyRows

# Written by python -m tests.rules.constants --write

ENQUEUE_BATCH = ManyRows.named("enqueue_batch")
"""sql/queries/mail/enqueue.sql:3: Accept many mails in the caller's transaction; a row for each in
order, including rejected ones. Raises MQ004 if a key is no longer valid.
"""
