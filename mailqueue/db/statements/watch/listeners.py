"""The statements of sql/queries/watch/listeners.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

TAKE_INBOXES_TO_HEAR = ManyRows.named("take_inboxes_to_hear")
"""sql/queries/watch/listeners.sql:3: Ids of inboxes whose leases were taken."""
YIELD_INBOXES_HEARD = NoRows.named("yield_inboxes_heard")
"""sql/queries/watch/listeners.sql:8: Give back leases for inboxes of projects with fewer
connections.
"""
KEEP_INBOXES_HEARD = ManyRows.named("keep_inboxes_heard")
"""sql/queries/watch/listeners.sql:12: Ids of inboxes whose leases were renewed."""
NOTE_INBOX_HEARD = NoRows.named("note_inbox_heard")
"""sql/queries/watch/listeners.sql:16: Write the state of a connection."""
WAKE_INBOX = OneValue.named("wake_inbox")
"""sql/queries/watch/listeners.sql:20: Whether an inbox is scanned at once."""
RELEASE_INBOXES_HEARD = NoRows.named("release_inboxes_heard")
"""sql/queries/watch/listeners.sql:24: Give back all leases of a process."""
