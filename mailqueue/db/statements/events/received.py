"""The statements of sql/queries/events/received.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

LIST_BOUNCE_MAIL = ManyRows.named("list_bounce_mail")
"""sql/queries/events/received.sql:3: A page of bounce mail, newest first."""
LIST_BOUNCE_MAIL_BESIDE = ManyRows.named("list_bounce_mail_beside")
"""sql/queries/events/received.sql:9: Bounce mail older than a mail, newest first, or newer than
one, oldest first.
"""
COUNT_BOUNCE_MAIL = OneValue.named("count_bounce_mail")
"""sql/queries/events/received.sql:15: The number of bounce mails, at most 10,000."""
READ_BOUNCE_MAIL_AGAIN = OneValue.named("read_bounce_mail_again")
"""sql/queries/events/received.sql:20: Process failed or ignored bounce mail again; false if it is
in another state.
"""
FIND_BOUNCE_DUMP = MaybeRow.named("find_bounce_dump")
"""sql/queries/events/received.sql:24: The mail or the conversation that reported a bounce."""
