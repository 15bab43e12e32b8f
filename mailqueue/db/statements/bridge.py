"""The statements of sql/queries/bridge.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

CONSUME_MESSAGES = ManyRows.named("consume_messages")
"""sql/queries/bridge.sql:3: What became of messages, up to the first that raised an error."""
NOTE_BROKER_QUEUE = NoRows.named("note_broker_queue")
"""sql/queries/bridge.sql:9: Write the state of a queue of RabbitMQ."""
KEEP_DEAD_LETTER = OneValue.named("keep_dead_letter")
"""sql/queries/bridge.sql:13: Keep a message that could not be handled; its id."""
PICK_DEAD_LETTERS = ManyRows.named("pick_dead_letters")
"""sql/queries/bridge.sql:18: Dead letters to replay, locked."""
SETTLE_DEAD_LETTERS = NoRows.named("settle_dead_letters")
"""sql/queries/bridge.sql:24: Write what became of dead letters that were replayed."""
LIST_DEAD_LETTERS = ManyRows.named("list_dead_letters")
"""sql/queries/bridge.sql:28: Dead letters of a project, newest first; headers and body, which may
be large, only of one that is named.
"""
LIST_BROKER_QUEUES = ManyRows.named("list_broker_queues")
"""sql/queries/bridge.sql:45: Queues of RabbitMQ from which events are taken, of one project or of
all, by name.
"""
