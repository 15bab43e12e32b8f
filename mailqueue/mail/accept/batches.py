"""Queue one content for many recipients, as a batch with an id."""

from uuid import UUID

from mailqueue.contract.sending import BatchState
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.store import batches as batches_store
from mailqueue.mail.accept.store.batches import SharedRow
from mailqueue.mail.model import NewBatch

MAX_RECIPIENTS = 10_000


async def enqueue_shared(
    conn: Conn, batch: NewBatch, *, project: str, is_strict: bool, by: str
) -> list[SharedRow]:
    """Accept a batch in one transaction; return a row for each recipient, in order.

    With `is_strict`, nothing is stored if one is refused, and no row has an id. Texts that
    PostgreSQL cannot hold have to be refused before.

    Raises:
        InvalidField: its content or options are refused; nothing is stored.
    """
    check_size(batch)
    return await batches_store.enqueue_shared(conn, project, batch, is_strict=is_strict, by=by)


def check_size(batch: NewBatch) -> None:
    """Refuse a batch with no recipient or too many. Pure.

    Raises:
        InvalidField: `recipients`.
    """
    if not 1 <= len(batch.recipients) <= MAX_RECIPIENTS:
        raise InvalidField(
            "recipients", f"1 to {MAX_RECIPIENTS} recipients, got {len(batch.recipients)}"
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
