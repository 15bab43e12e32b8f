"""The statements of sql/queries/emails/messages.sql."""

from mailqueue.db.sql import ManyRows, OneValue

# Written by python -m tests.rules.constants --write

LIST_MESSAGES = ManyRows.named("list_messages")
"""sql/queries/emails/messages.sql:3: A part of a project's mail, the newest first."""
COUNT_MESSAGES = OneValue.named("count_messages")
"""sql/queries/emails/messages.sql:19: The number of a project's mails, up to a limit."""
LIST_VISITS = ManyRows.named("list_visits")
"""sql/queries/emails/messages.sql:25: Opens or clicks of one mail, newest first."""
COUNT_VISITS = OneValue.named("count_visits")
"""sql/queries/emails/messages.sql:35: The number of opens or clicks of one mail."""
LIST_PROJECT_VISITS = ManyRows.named("list_project_visits")
"""sql/queries/emails/messages.sql:43: Opens or clicks of all mail of a project, newest first."""
COUNT_PROJECT_VISITS = OneValue.named("count_project_visits")
"""sql/queries/emails/messages.sql:67: The number of opens or clicks of all mail of a project, up to
a limit.
"""
LIST_ACTIVITY = ManyRows.named("list_activity")
"""sql/queries/emails/messages.sql:83: What happened to each of these mails: counts of opens and
clicks, the newest event, and whether one was delivered or bounced.
"""
