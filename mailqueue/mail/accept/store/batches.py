"""SQL of batches."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.sending import BatchState
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals


class SharedRow(NamedTuple):
    """Result for one recipient; `id` None: it was refused, or the whole batch was."""

    place: int  # from 0
    id: UUID | None
    status: str  # queued, suppressed, rejected
    reason: str | None
    batch_id: UUID | None


async def enqueue_shared(
    conn: Conn,
    project: str,
    *,
    contents: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    recipients: Sequence[Mapping[str, Any]],
    is_strict: bool,
    by: str,
) -> list[SharedRow]:
    """Accept one content for many; an InvalidField names what is wrong with content or options."""
    asked = {
        "project": project,
        "contents": Jsonb(contents),
        "options": Jsonb(with_wire_domains(options)),
        "recipients": Jsonb([with_wire_domains(one) for one in recipients]),
        "strict": is_strict,
        "by": by,
    }
    with refusals():
        return await fetch.many(conn, "enqueue_shared", asked, SharedRow)


async def find(conn: Conn, project_id: UUID, batch_id: UUID) -> BatchState | None:
    """Return a batch of a project."""
    asked = {"project_id": project_id, "id": batch_id}
    return await fetch.maybe(conn, "find_batch", asked, BatchState)
