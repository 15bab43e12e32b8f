"""The statements of sql/queries/mail/custom_smtp.sql."""

from mailqueue.db.sql import ManyRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_CUSTOM_SMTP_NOW = OneRow.named("begin_custom_smtp_now")
"""sql/queries/mail/custom_smtp.sql:3: Accept, claim and mark one mail in one commit; state is
sending, suppressed or duplicate. Invalid input raises 22023, a limit 53400.
"""
SETTLE_CUSTOM_SMTP = OneValue.named("settle_custom_smtp")
"""sql/queries/mail/custom_smtp.sql:11: Record the outcome; false if rescue held the mail meanwhile.
"""
QUEUE_CUSTOM_SMTP = OneRow.named("queue_custom_smtp")
"""sql/queries/mail/custom_smtp.sql:19: Accept one mail that is sent later by a custom SMTP server;
state is queued, suppressed or duplicate. Invalid input raises 22023.
"""
QUEUE_SHARED_CUSTOM_SMTP = ManyRows.named("queue_shared_custom_smtp")
"""sql/queries/mail/custom_smtp.sql:25: Accept one content for many recipients, each mail with a
custom SMTP server; a row for each, in order. Invalid content raises 22023.
"""
BEGIN_CUSTOM_SMTP = OneRow.named("begin_custom_smtp")
"""sql/queries/mail/custom_smtp.sql:32: Mark the mail of a claimed row of custom_smtp_servers; state
is marked, finished, held, waiting or lost.
"""
DUE_CUSTOM_SMTP = ManyRows.named("due_custom_smtp")
"""sql/queries/mail/custom_smtp.sql:38: Those of the servers whose mail is still to be sent, and
when.
"""
SWEEP_CUSTOM_SMTP_SERVERS = OneValue.named("sweep_custom_smtp_servers")
"""sql/queries/mail/custom_smtp.sql:43: Delete servers whose mail is finished, held or expired;
returns their number.
"""
