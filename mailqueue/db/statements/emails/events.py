"""The statements of sql/queries/emails/events.sql."""

from mailqueue.db.sql import ManyRows

# Written by python -m tests.rules.constants --write

LIST_EVENTS_OF_EMAILS = ManyRows.named("list_events_of_emails")
"""sql/queries/emails/events.sql:3: Events of mails before or after one of them; that a mail was
accepted stands in the mail itself. Filtered by type and recipient.
"""
LIST_EMAILS_OF_EVENTS = ManyRows.named("list_emails_of_events")
"""sql/queries/emails/events.sql:29: What events say about their mails."""
