"""Queue one content for many recipients, as a batch with an id."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.contract.sending import BatchState
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.store import batches as batches_store
from mailqueue.mail.accept.store.batches import SharedRow

MAX_RECIPIENTS = 10_000


@dataclass(frozen=True, slots=True)
class NewBatch:
    """A batch: contents, options for all, and recipients.

    A content has what enqueue_batch() takes of a message except the recipient and the options, or
    template_version_id and template_language. A recipient has `recipient`, an address, `name`,
    `custom_data`, `tags` in place of those of all, and `content`, an index into the contents (else
    0); or `refused`, the reason it was refused.
    """

    contents: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]
    recipients: Sequence[Mapping[str, Any]]


async def enqueue_shared(
    conn: Conn, batch: NewBatch, *, project: str, is_strict: bool, by: str
) -> list[SharedRow]:
    """Accept a batch in one transaction; return a row for each recipient, in order.

    With `is_strict`, nothing is stored if one is refused, and no row has an id. Texts that
    PostgreSQL cannot hold have to be refused before.

    Raises:
        InvalidField: its content or options are refused; nothing is stored.
    """
    if not 1 <= len(batch.recipients) <= MAX_RECIPIENTS:
        raise InvalidField(
            "recipients", f"1 to {MAX_RECIPIENTS} recipients, got {len(batch.recipients)}"
        )
    return await batches_store.enqueue_shared(
        conn,
        project,
        contents=batch.contents,
        options=batch.options,
        recipients=batch.recipients,
        is_strict=is_strict,
        by=by,
    )


async def find_batch(conn: Conn, project_id: UUID, batch_id: UUID) -> BatchState:
    """Return a batch of a project.

    Raises:
        NotFound: there is no such batch, or its mails are archived.
    """
    found = await batches_store.find(conn, project_id, batch_id)
    if found is None:
        raise NotFound("batch", batch_id)
    return found
