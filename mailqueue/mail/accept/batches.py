"""Hands in one content for many recipients, as a batch that can be looked at afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.contract.sending import BatchState
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.batch import BatchItem
from mailqueue.mail.accept.store import batches as batches_store

MAX_RECIPIENTS = 10_000


@dataclass(frozen=True, slots=True)
class NewBatch:
    """What many are to be told: contents, the options of all, and each recipient's own.

    A content has what enqueue_batch() takes of a message but the recipient and the options, or
    template_version_id and template_language. A recipient has `recipient`, an address, `name`,
    `custom_data`, `tags` in place of those of all, and `content`, a place among the contents (else
    the first); or `refused`, why it was refused.
    """

    contents: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]
    recipients: Sequence[Mapping[str, Any]]


async def enqueue_shared(
    conn: Conn, batch: NewBatch, *, project: str, is_strict: bool, by: str
) -> list[BatchItem]:
    """Accept a batch in one transaction; an item for each recipient, in order.

    `is_strict`: where one is refused nothing is stored, and no item has an id.

    Raises:
        InvalidField: what they share is wrong; nothing is stored.
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
        NotFound: there is none, or it is as old as mails that went to the archive.
    """
    found = await batches_store.find(conn, project_id, batch_id)
    if found is None:
        raise NotFound("batch", batch_id)
    return found
