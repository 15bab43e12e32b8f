"""Rows of view outboxes."""

from datetime import UTC, datetime
from uuid import UUID

EF_CORE = (
    'INSERT INTO "mailqueue"."outboxes" ("id", "body", "created_at", "is_sent", "sent_at",'
    ' "subject", "to_email", "to_name") VALUES (%s, %s, %s, %s, %s, %s, %s, %s)'
    ' RETURNING "sequence_number"'
)
"""As Npgsql's provider for EF Core writes it for the documents' entity."""
PLAIN = (
    "INSERT INTO mailqueue.outboxes (id, to_email, subject, body)"
    " VALUES (%s, 'ann@example.com', 'Order 81', 'Thank you') RETURNING id"
)
WRITTEN = datetime(2026, 5, 1, 8, tzinfo=UTC)


def ef_core_values(email: UUID, *, body: str = "<p>Thank you</p>") -> list[object]:
    return [email, body, WRITTEN, False, None, "Order 81", "ann@example.com", "Ann"]
