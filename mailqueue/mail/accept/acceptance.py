"""Accept mails of a project for the HTTP API, the compatible APIs, SMTP and the command line."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.contract.sending import Repeated, Sent
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch
from mailqueue.mail.accept.raw import PreparedRaw, accept_prepared
from mailqueue.mail.accept.store import enqueue as enqueue_store
from mailqueue.mail.model import BatchRow

Result = Sent | InvalidField


async def accept(
    conn: Conn, emails: Sequence[NewEmail], *, project: str, is_trial: bool = False
) -> list[Result]:
    """Accept mails in one transaction; return the result of each, in order.

    A refused mail does not affect the others. A trial is rolled back.

    Raises:
        InvalidField: there is no such project.
    """
    # A single mail too: the batch returns its result, which saves a second statement.
    rows = await enqueue_batch(conn, emails, project=project, is_trial=is_trial)
    return [await _result_of(conn, row) for row in rows]


async def accept_one(conn: Conn, email: NewEmail, *, project: str) -> Sent:
    """Accept one mail; return its result.

    Raises:
        InvalidField: it is refused, and nothing is stored.
    """
    (found,) = await accept(conn, [email], project=project)
    if isinstance(found, InvalidField):
        raise found
    return found


async def accept_messages(
    conn: Conn, messages: Sequence[PreparedRaw], *, project: str
) -> list[Sent]:
    """Accept finished messages in one statement, all or none; return the result of each.

    Raises:
        InvalidField: one of them is refused, and nothing is stored.
    """
    rows = await accept_prepared(conn, messages, project=project)
    return [_sent(row) for row in rows]


async def find_repeated(conn: Conn, email_id: UUID) -> Repeated:
    """Return the answer that the first request under an idempotency key received."""
    reason = await enqueue_store.find_suppression(conn, email_id)
    status = "queued" if reason is None else "suppressed"
    return Repeated(email_id, status, reason)


def refusal_of(reason: str | None) -> InvalidField:
    """Return the refusal whose text is `field: why`. Pure."""
    field, _, why = (reason or "").partition(": ")
    return InvalidField(field, why)


async def _result_of(conn: Conn, row: BatchRow) -> Result:
    if row.id is None:
        return refusal_of(row.reason)
    if row.status == "duplicate":
        return await find_repeated(conn, row.id)
    return _sent(row)


def _sent(row: BatchRow) -> Sent:
    assert row.id is not None, "a refused mail has no id, and was handled before"
    return Sent(row.id, row.status, row.reason)
