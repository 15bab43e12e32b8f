"""The statements of sql/queries/operations/search.sql."""

from mailqueue.db.sql import ManyRows

# Written by python -m tests.rules.constants --write

SEARCH = ManyRows.named("search")
"""sql/queries/operations/search.sql:3: What a text names in all projects."""
SEARCH_OF_USER = ManyRows.named("search_of_user")
"""sql/queries/operations/search.sql:8: What a text names in the projects that a user of the console
sees.
"""
