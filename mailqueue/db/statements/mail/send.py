"""The statements of sql/queries/mail/send.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

GATHER_LANES = OneRow.named("gather_lanes")
"""sql/queries/mail/send.sql:3: Wake lanes that got mail or whose block ended; the wait in seconds
until the next block ends. The commit need not be on disk; set here, because a setting of a
function ends before the commit.
"""
CLAIM_EMAILS = ManyRows.named("claim_emails")
"""sql/queries/mail/send.sql:10: Claim up to a batch of due mail for one worker, with limits
reserved, and read its contents and recipients. Rows locked by other claims are skipped; accounts
whose servers do not respond to this worker are avoided. Rows of the kind claim are followed by
those of the kind content, and by one of the kind verdict: whether more can be claimed now, and
the seconds until the next block of a lane ends.
"""
CLAIM_EMAILS_UNREAD = ManyRows.named("claim_emails_unread")
"""sql/queries/mail/send.sql:22: Claim without contents, where one of them could not be read."""
CLAIM_SUSPECT = ManyRows.named("claim_suspect")
"""sql/queries/mail/send.sql:28: Claim one due mail whose worker stopped while handling it."""
FIND_CLAIMS = ManyRows.named("find_claims")
"""sql/queries/mail/send.sql:34: Mail that this worker holds by claims after the last one it
received.
"""
READ_CONTENTS = ManyRows.named("read_contents")
"""sql/queries/mail/send.sql:40: Content of these mails."""
READ_ATTACHMENTS = ManyRows.named("read_attachments")
"""sql/queries/mail/send.sql:48: The bytes of these files, or their locations with size and hash."""
READ_TAGS = ManyRows.named("read_tags")
"""sql/queries/mail/send.sql:54: Tags of these mails, for those that have any."""
READ_RECIPIENTS = ManyRows.named("read_recipients")
"""sql/queries/mail/send.sql:60: All recipients of messages that have several, in order."""
SETTLE_AND_MARK = ManyRows.named("settle_and_mark")
"""sql/queries/mail/send.sql:67: In one commit: marks mail that is about to be sent, with the last
check of each, and settles outcomes of other mail. If all marked mail may be sent, it is one row,
known; without that row the worker was declared lost. Outcomes whose claim was lost are returned
as moved_on.
"""
NOTE_SEND_STAGES = NoRows.named("note_send_stages")
"""sql/queries/mail/send.sql:86: Record what a worker did at attempts of emails whose spans are
exported.
"""
SETTLE_RECIPIENTS = NoRows.named("settle_recipients")
"""sql/queries/mail/send.sql:91: Settle single recipients, in the transaction that settles their
messages.
"""
SHORTEN_EMAIL = NoRows.named("shorten_email")
"""sql/queries/mail/send.sql:96: Cut long texts of a claimed email that no index of history can
hold.
"""
HOLD_UNRECORDED = OneValue.named("hold_unrecorded")
"""sql/queries/mail/send.sql:100: Hold a claimed email whose outcome is refused; false if its claim
moved on.
"""
ENSURE_PARTITIONS = OneValue.named("ensure_partitions")
"""sql/queries/mail/send.sql:104: Create the partitions of the coming months; the number that was
missing.
"""
REST_SENDER = NoRows.named("rest_sender")
"""sql/queries/mail/send.sql:108: Open the circuit of an account after a failed connection."""
REST_SENDER_FOR = NoRows.named("rest_sender_for")
"""sql/queries/mail/send.sql:112: Open the circuit of an account for as long as its provider asked,
or for longer each time without a time; for all processes.
"""
REPORT_FAILURES = NoRows.named("report_failures")
"""sql/queries/mail/send.sql:117: Record failures that are or may be due to the account or its
server; too many open its circuit.
"""
SENDER_ANSWERED = NoRows.named("sender_answered")
"""sql/queries/mail/send.sql:122: Close the circuit of an account whose server accepts connections
again.
"""
SUSPEND_SENDER = NoRows.named("suspend_sender")
"""sql/queries/mail/send.sql:126: Suspend an account whose own server refuses it."""
