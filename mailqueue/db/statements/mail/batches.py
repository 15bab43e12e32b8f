"""The statements of sql/queries/mail/batches.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

ENQUEUE_SHARED = ManyRows.named("enqueue_shared")
"""sql/queries/mail/batches.sql:3: Accept one content for many recipients; a row for each, in order.
Invalid content raises 22023.
"""
FIND_BATCH = MaybeRow.named("find_batch")
"""sql/queries/mail/batches.sql:9: A batch of a project, with the number of its mails in each state.
"""
SWEEP_BATCHES = OneValue.named("sweep_batches")
"""sql/queries/mail/batches.sql:14: Delete batches whose mails are old enough for the archive;
returns their number.
"""
TRY_EMAIL = OneValue.named("try_email")
"""sql/queries/mail/batches.sql:18: Dry run of accepting a mail; nothing is stored. Invalid input
raises 22023.
"""
READ_MESSAGE_SOURCE = MaybeRow.named("read_message_source")
"""sql/queries/mail/batches.sql:22: A mail of a project with everything its message is built from.
"""
LIST_PROJECT_EMAILS = ManyRows.named("list_project_emails")
"""sql/queries/mail/batches.sql:26: A page of a project's mail, the newest first."""
EMAILS_LOOKED_FROM = MaybeRow.named("emails_looked_from")
"""sql/queries/mail/batches.sql:36: Id of the oldest mail that a page of a search looks at; NULL
where it looks at all that are left.
"""
FIND_SENDER_NAME = MaybeRow.named("find_sender_name")
"""sql/queries/mail/batches.sql:40: The name of a project's sender account with this id, number or
name; a name takes precedence.
"""
ACT_ON_EMAIL = MaybeRow.named("act_on_email")
"""sql/queries/mail/batches.sql:49: Cancel, release, resend or resolve a mail of a project; no row
if there is none, outcome NULL if its state does not allow it.
"""
MOVE_EMAIL = MaybeRow.named("move_email")
"""sql/queries/mail/batches.sql:55: Send a mail of a project by another account; no row if there is
none, outcome NULL if its state does not allow it.
"""
CHANGE_EMAIL = MaybeRow.named("change_email")
"""sql/queries/mail/batches.sql:60: Change time or priority of a mail of a project; no row if there
is none, outcome NULL if its state does not allow it.
"""
ACT_ON_BATCH = MaybeRow.named("act_on_batch")
"""sql/queries/mail/batches.sql:65: Cancel, hold or release mails of a batch; no row if there is
none, results NULL if no mail's state allows it.
"""
