"""The statements of sql/queries/trap.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

ADD_TRAP_MESSAGES = NoRows.named("add_trap_messages")
"""sql/queries/trap.sql:3: Store a batch of messages, in the given order; recipients of one message
are joined by line feeds.
"""
LIST_TRAP_MESSAGES = ManyRows.named("list_trap_messages")
"""sql/queries/trap.sql:14: Messages newest first: those that match the pattern, below one id and
above another.
"""
READ_TRAP_MESSAGES = ManyRows.named("read_trap_messages")
"""sql/queries/trap.sql:27: Whole messages newest first: those that match the pattern, below one id.
"""
FIND_TRAP_MESSAGE = MaybeRow.named("find_trap_message")
"""sql/queries/trap.sql:39: One whole message."""
COUNT_TRAP_MESSAGES = OneValue.named("count_trap_messages")
"""sql/queries/trap.sql:46: Number of messages that match the pattern."""
FIND_OLDEST_TRAP_MESSAGE = MaybeRow.named("find_oldest_trap_message")
"""sql/queries/trap.sql:54: Id of the oldest message above one that matches the pattern."""
REMOVE_TRAP_MESSAGE = NoRows.named("remove_trap_message")
"""sql/queries/trap.sql:65: Delete one message."""
CLEAR_TRAP_MESSAGES = NoRows.named("clear_trap_messages")
"""sql/queries/trap.sql:70: Delete all messages."""
FIND_TRAP_NEIGHBOURS = OneRow.named("find_trap_neighbours")
"""sql/queries/trap.sql:74: The messages right before and after one, by age; NULL if there is none.
"""
