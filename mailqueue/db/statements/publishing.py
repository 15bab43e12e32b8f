"""The statements of sql/queries/publishing.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

CLAIM_PUBLISHING = ManyRows.named("claim_publishing")
"""sql/queries/publishing.sql:3: Take outboxes that have messages for a worker."""
EXTEND_HORIZONS = ManyRows.named("extend_horizons")
"""sql/queries/publishing.sql:9: Where claimed outboxes publish, and up to which number."""
READ_OUTBOX_MESSAGES = ManyRows.named("read_outbox_messages")
"""sql/queries/publishing.sql:14: The next messages of each outbox, in order."""
ADVANCE_OUTBOXES = NoRows.named("advance_outboxes")
"""sql/queries/publishing.sql:22: Note what was published of outboxes."""
LIST_OUTBOXES = ManyRows.named("list_outboxes")
"""sql/queries/publishing.sql:27: The outboxes of a project by name, or the one of a name, with what
waits.
"""
ADD_OUTBOX = OneValue.named("add_outbox")
"""sql/queries/publishing.sql:56: Whether the outbox was added; false: there is one of that name."""
CHANGE_OUTBOX = OneValue.named("change_outbox")
"""sql/queries/publishing.sql:60: Whether there was such an outbox."""
CHANGE_OUTBOX_EVENTS = OneValue.named("change_outbox_events")
"""sql/queries/publishing.sql:64: Whether there was such an outbox."""
REMOVE_OUTBOX = OneValue.named("remove_outbox")
"""sql/queries/publishing.sql:68: Whether there was such an outbox."""
SKIP_OUTBOX_MESSAGE = OneValue.named("skip_outbox_message")
"""sql/queries/publishing.sql:72: Whether such a message waited."""
