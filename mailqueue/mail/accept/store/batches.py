"""SQL of batches."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.sending import BatchList, BatchState
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.mail import batches as sql
from mailqueue.mail.model import NewBatch


class SharedRow(NamedTuple):
    """Result for one recipient; `id` None: it was refused, or the whole batch was."""

    place: int  # from 0
    id: UUID | None
    status: str  # queued, suppressed, rejected, expanding
    reason: str | None
    batch_id: UUID | None


class _BatchRow(NamedTuple):
    id: UUID
    created_at: datetime
    created_by: str
    subject: str | None
    recipients: int
    rejected: int
    counts: dict[str, int]
    lists: list[dict[str, Any]]


def shared_values(project: str, batch: NewBatch, *, is_strict: bool, by: str) -> dict[str, Any]:
    """Return the values of a statement that accepts a batch. Pure."""
    return {
        "project": project,
        "contents": Jsonb(batch.contents),
        "options": Jsonb(with_wire_domains(batch.options)),
        "recipients": Jsonb([with_wire_domains(one) for one in batch.recipients]),
        "strict": is_strict,
        "by": by,
    }


async def enqueue_shared(
    conn: Conn, project: str, batch: NewBatch, *, is_strict: bool, by: str
) -> list[SharedRow]:
    """Accept one content for many; an InvalidField names what is wrong with content or options."""
    asked = shared_values(project, batch, is_strict=is_strict, by=by)
    with refusals():
        return await fetch.many(conn, sql.ENQUEUE_SHARED, asked, SharedRow)


async def find(conn: Conn, project_id: UUID, batch_id: UUID) -> BatchState | None:
    """Return a batch of a project."""
    asked = {"project_id": project_id, "id": batch_id}
    found = await fetch.maybe(conn, sql.FIND_BATCH, asked, _BatchRow)
    if found is None:
        return None
    lists = [BatchList(**one) for one in found.lists]
    return BatchState(**{**found._asdict(), "lists": lists})
