"""The statements of sql/queries/projects/producers.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

LIST_PRODUCERS = ManyRows.named("list_producers")
"""sql/queries/projects/producers.sql:3: Bound logins by name, each with its projects."""
BIND_PRODUCER = NoRows.named("bind_producer")
"""sql/queries/projects/producers.sql:12: Let a login enqueue for these projects, and for no others
but those it was bound to before.
"""
UNBIND_PRODUCER = OneValue.named("unbind_producer")
"""sql/queries/projects/producers.sql:16: Unbind a login from projects, null: from all; returns from
how many.
"""
