"""The statements of sql/queries/emails/compat.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows

# Written by python -m tests.rules.constants --write

KEEP_BATCH = NoRows.named("keep_batch")
"""sql/queries/emails/compat.sql:3: Store mails of one request as a batch with the id of the first.
"""
RESCHEDULE_EMAIL = MaybeRow.named("reschedule_email")
"""sql/queries/emails/compat.sql:7: Change when a mail without an attempt is sent; no row if the
project has no such mail.
"""
LIST_NEWER_IDS = ManyRows.named("list_newer_ids")
"""sql/queries/emails/compat.sql:12: Ids of the next newer mails after one, oldest first."""
LIST_NAMED_EMAILS = ManyRows.named("list_named_emails")
"""sql/queries/emails/compat.sql:17: Mails of a project by their ids, newest first, each with its
last event.
"""
LIST_RECIPIENTS_OF_EMAILS = ManyRows.named("list_recipients_of_emails")
"""sql/queries/emails/compat.sql:28: The recipients of those mails that have several, in their
order.
"""
