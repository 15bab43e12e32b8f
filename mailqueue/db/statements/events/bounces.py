"""The statements of sql/queries/events/bounces.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

FIND_BOUNCED_MAIL = MaybeRow.named("find_bounced_mail")
"""sql/queries/events/bounces.sql:3: The bounced mail, by its id or else by its Message-ID, with all
its recipients in order; of several with one Message-ID, the mail to one of the given recipients.
"""
IS_BOUNCE_IGNORED = OneValue.named("is_bounce_ignored")
"""sql/queries/events/bounces.sql:10: Whether a rule of the project ignores bounce mail of one of
the senders.
"""
LIST_BOUNCE_DOMAINS = ManyRows.named("list_bounce_domains")
"""sql/queries/events/bounces.sql:14: Domains of the return paths of all projects."""
