"""The statements of sql/queries/maintenance/records.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

LIST_SHORTEST_STAYS = ManyRows.named("list_shortest_stays")
"""sql/queries/maintenance/records.sql:4: For each kind, the fewest days that records of any project
stay hot: younger months need no check.
"""
FIND_ELSEWHERE = ManyRows.named("find_elsewhere")
"""sql/queries/maintenance/records.sql:10: Indexes of those records that the database still has in
another place: requeued mail, content in use again.
"""
FIND_DUE_EMAIL_HISTORY = ManyRows.named("find_due_email_history")
"""sql/queries/maintenance/records.sql:21: Projects with mails of that month, all older than their
hot days.
"""
READ_EMAIL_HISTORY = ManyRows.named("read_email_history")
"""sql/queries/maintenance/records.sql:31: The mails of a project that were finished in that time,
each with its recipients where it has several.
"""
REMOVE_EMAIL_HISTORY = ManyRows.named("remove_email_history")
"""sql/queries/maintenance/records.sql:41: Delete these mails with their recipients and count them
as archived; returns the indexes of those that were there.
"""
RESTORE_EMAIL_HISTORY = OneValue.named("restore_email_history")
"""sql/queries/maintenance/records.sql:61: Insert mails and their recipients again and subtract them
from the archived ones; returns the number inserted.
"""
FIND_DUE_SEND_LOGS = ManyRows.named("find_due_send_logs")
"""sql/queries/maintenance/records.sql:88: Projects with attempts of that month, all older than
their hot days.
"""
READ_SEND_LOGS = ManyRows.named("read_send_logs")
"""sql/queries/maintenance/records.sql:98: The attempts of a project in that time."""
REMOVE_SEND_LOGS = ManyRows.named("remove_send_logs")
"""sql/queries/maintenance/records.sql:104: Delete these attempts; returns the indexes of those that
were there.
"""
RESTORE_SEND_LOGS = OneValue.named("restore_send_logs")
"""sql/queries/maintenance/records.sql:115: Insert attempts again; returns the number inserted."""
FIND_DUE_EMAIL_EVENTS = ManyRows.named("find_due_email_events")
"""sql/queries/maintenance/records.sql:126: Projects with events of a kind of that month, all older
than their hot days.
"""
READ_EMAIL_EVENTS = ManyRows.named("read_email_events")
"""sql/queries/maintenance/records.sql:137: The events of a project and kind in that time."""
REMOVE_EMAIL_EVENTS = ManyRows.named("remove_email_events")
"""sql/queries/maintenance/records.sql:145: Delete these events; returns the indexes of those that
were there.
"""
RESTORE_EMAIL_EVENTS = OneValue.named("restore_email_events")
"""sql/queries/maintenance/records.sql:156: Insert events again; returns the number inserted."""
FIND_DUE_EMAIL_CONTENTS = ManyRows.named("find_due_email_contents")
"""sql/queries/maintenance/records.sql:169: Projects with contents of that month that no mail uses
that is queued or was finished within the hot days.
"""
READ_EMAIL_CONTENTS = ManyRows.named("read_email_contents")
"""sql/queries/maintenance/records.sql:185: Contents of a project of that time that no mail uses
that is queued or was finished within the hot days.
"""
LOCK_EMAIL_CONTENTS = NoRows.named("lock_email_contents")
"""sql/queries/maintenance/records.sql:198: Wait for transactions that are queueing mail again with
these contents.
"""
REMOVE_EMAIL_CONTENTS = ManyRows.named("remove_email_contents")
"""sql/queries/maintenance/records.sql:206: Delete these contents if no queued mail uses them,
locked before; returns the indexes of those deleted.
"""
RESTORE_EMAIL_CONTENTS = OneValue.named("restore_email_contents")
"""sql/queries/maintenance/records.sql:219: Insert contents again; returns the number inserted."""
FIND_DUE_ATTACHMENTS = ManyRows.named("find_due_attachments")
"""sql/queries/maintenance/records.sql:230: Projects with files of that month that no content uses.
"""
READ_LEAVING_ATTACHMENTS = ManyRows.named("read_leaving_attachments")
"""sql/queries/maintenance/records.sql:245: The files of a project of that time that no content
uses, their bytes in hexadecimal.
"""
REMOVE_ATTACHMENTS = ManyRows.named("remove_attachments")
"""sql/queries/maintenance/records.sql:256: Delete these files; returns the indexes of those that
were there.
"""
RESTORE_ATTACHMENTS = OneValue.named("restore_attachments")
"""sql/queries/maintenance/records.sql:268: Insert files again; returns the number inserted."""
