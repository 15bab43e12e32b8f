"""SQL of batches."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.sending import BatchState
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.batch import BatchItem
from mailqueue.mail.accept.store.enqueue import refusals


async def enqueue_shared(
    conn: Conn,
    project: str,
    *,
    contents: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    recipients: Sequence[Mapping[str, Any]],
    is_strict: bool,
    by: str,
) -> list[BatchItem]:
    """Accept one content for many recipients; InvalidField names an invalid shared field."""
    asked = {
        "project": project,
        "contents": Jsonb(contents),
        "options": Jsonb(with_wire_domains(options)),
        "recipients": Jsonb([with_wire_domains(one) for one in recipients]),
        "strict": is_strict,
        "by": by,
    }
    with refusals():
        return await fetch.many(conn, "enqueue_shared", asked, BatchItem)


async def find(conn: Conn, project_id: UUID, batch_id: UUID) -> BatchState | None:
    """Return a batch of a project."""
    asked = {"project_id": project_id, "id": batch_id}
    return await fetch.maybe(conn, "find_batch", asked, BatchState)
