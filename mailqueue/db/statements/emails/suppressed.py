"""The statements of sql/queries/emails/suppressed.sql."""

from mailqueue.db.sql import ManyRows

# Written by python -m tests.rules.constants --write

LIST_SUPPRESSED = ManyRows.named("list_suppressed")
"""sql/queries/emails/suppressed.sql:4: The addresses of a list that are older than one, newest
first; each with the categories it is suppressed in.
"""
LIST_SUPPRESSED_IN_CATEGORIES = ManyRows.named("list_suppressed_in_categories")
"""sql/queries/emails/suppressed.sql:31: Suppressions in some categories that are older than one,
newest first: an address is a row for each of them.
"""
LIST_NEWER_SUPPRESSED_IDS = ManyRows.named("list_newer_suppressed_ids")
"""sql/queries/emails/suppressed.sql:44: Ids of the next newer addresses of a list after one, oldest
first.
"""
