"""The statements of sql/queries/stream.sql."""

from mailqueue.db.sql import ManyRows, OneRow

# Written by python -m tests.rules.constants --write

LIST_CONSUMERS = ManyRows.named("list_consumers")
"""sql/queries/stream.sql:3: Consumers, and how far each is behind."""
REPLAY_CONSUMER = OneRow.named("replay_consumer")
"""sql/queries/stream.sql:9: Have a consumer handle events again; how many, and the time of the
first.
"""
