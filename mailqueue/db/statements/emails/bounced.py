"""The statements of sql/queries/emails/bounced.sql."""

from mailqueue.db.sql import ManyRows, OneValue

# Written by python -m tests.rules.constants --write

LIST_BOUNCES = ManyRows.named("list_bounces")
"""sql/queries/emails/bounced.sql:3: Bounces and complaints, newest first. An address is inactive
while its suppression lasts.
"""
COUNT_BOUNCES = ManyRows.named("count_bounces")
"""sql/queries/emails/bounced.sql:35: The number of bounces and complaints of each type."""
LIST_BOUNCED_TAGS = ManyRows.named("list_bounced_tags")
"""sql/queries/emails/bounced.sql:51: Tags of the mail that bounced or was complained about, in
order.
"""
COUNT_SUPPRESSED = OneValue.named("count_suppressed")
"""sql/queries/emails/bounced.sql:62: The number of addresses that are suppressed for some reasons
in one of the categories.
"""
