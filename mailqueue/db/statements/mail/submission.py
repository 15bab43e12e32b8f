"""The statements of sql/queries/mail/submission.sql."""

from mailqueue.db.sql import MaybeRow

# Written by python -m tests.rules.constants --write

MESSAGE_BYTES_OF = MaybeRow.named("message_bytes_of")
"""sql/queries/mail/submission.sql:3: Maximum size of a message of this project in bytes,
attachments included.
"""
