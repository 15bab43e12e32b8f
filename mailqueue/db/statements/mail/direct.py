"""The statements of sql/queries/mail/direct.sql."""

from mailqueue.db.sql import ManyRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_INLINE = OneRow.named("begin_inline")
"""sql/queries/mail/direct.sql:3: Accept, claim and mark one mail in one commit; state is sending,
suppressed or duplicate. Invalid input raises 22023, a limit 53400.
"""
SETTLE_INLINE = OneValue.named("settle_inline")
"""sql/queries/mail/direct.sql:11: Record the outcome; false if rescue held the mail meanwhile."""
QUEUE_INLINE = OneRow.named("queue_inline")
"""sql/queries/mail/direct.sql:19: Accept one mail that is sent later by a custom SMTP server; state
is queued, suppressed or duplicate. Invalid input raises 22023.
"""
QUEUE_SHARED_INLINE = ManyRows.named("queue_shared_inline")
"""sql/queries/mail/direct.sql:25: Accept one content for many recipients, each mail with a custom
SMTP server; a row for each, in order. Invalid content raises 22023.
"""
BEGIN_CUSTOM_SMTP = OneRow.named("begin_custom_smtp")
"""sql/queries/mail/direct.sql:32: Mark the mail of a claimed row of inline_servers; state is
marked, finished, held, waiting or lost.
"""
DUE_INLINE = ManyRows.named("due_inline")
"""sql/queries/mail/direct.sql:38: Those of the servers whose mail is still to be sent, and when."""
SWEEP_INLINE_SERVERS = OneValue.named("sweep_inline_servers")
"""sql/queries/mail/direct.sql:43: Delete servers whose mail is finished, held or expired; returns
their number.
"""
