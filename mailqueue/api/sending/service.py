"""What a caller may do with mail through the API: send it, and look at what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from mailqueue.api.emails.schema import Repeated
from mailqueue.api.http import store
from mailqueue.api.sending.schema import SendRequest, TemplateRequest
from mailqueue.contract.emails import Email, Recipient
from mailqueue.contract.sending import Sent
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch
from mailqueue.mail.model import BatchRow
from mailqueue.tenants.model import Caller

# What the rules of mail call a field that has another name in a request.
FIELD_BY_COLUMN: Mapping[str, str] = {
    "recipient": "to",
    "recipient_email": "to",
    "recipient_name": "to",
    "html": "html_body",
    "text": "text_body",
    "run_at": "scheduled_at",
    "sender": "smtp_config_id",
    "template": "template_slug",
}


def new_email(caller: Caller, request: SendRequest | TemplateRequest) -> NewEmail:
    """Return the mail a caller asks for. Pure.

    Raises:
        InvalidField: a test key that names a sender other than the trap.
        Conflict: a test key in a project without a trap.
    """
    options = with_trap(caller, request.options())
    if isinstance(request, TemplateRequest):
        return NewEmail(recipient=request.to[0], subject=None, options=options)
    return NewEmail(
        recipient=request.to[0],
        subject=request.subject,
        html=request.html_body,
        text=request.text_body,
        options=options,
    )


async def accept(conn: Conn, project: str, emails: Sequence[NewEmail]) -> list[Sent | InvalidField]:
    """Accept mails of a project in one commit; each by itself all or nothing."""
    # As a batch, also one: its row says what became of a mail, which saves asking for it.
    rows = await enqueue_batch(conn, emails, project=project)
    reach("api.accepted")
    return [await _answer(conn, row) for row in rows]


async def _answer(conn: Conn, row: BatchRow) -> Sent | InvalidField:
    if row.id is None:
        return refusal(row.reason or "")
    if row.status != "duplicate":
        return Sent(row.id, row.status, row.reason)
    reason = await store.find_suppression(conn, row.id)  # the same answer as the first time
    return Repeated(row.id, "queued" if reason is None else "suppressed", reason)


def refusal(reason: str) -> InvalidField:
    """Read a refusal of the batch, `field: why`. Pure."""
    field, _, why = reason.partition(": ")
    return InvalidField(FIELD_BY_COLUMN.get(field, field), why)


def renamed(exc: InvalidField) -> InvalidField:
    """Return a refusal of the rules of mail as callers know the field. Pure."""
    return InvalidField(FIELD_BY_COLUMN.get(exc.field, exc.field), exc.why)


def with_trap(caller: Caller, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options; mail of a test key is test mail, which goes to the trap and nowhere else.

    Raises:
        InvalidField: a test key that names a sender other than the trap.
        Conflict: a test key in a project without a trap.
    """
    if not caller.is_test:
        return options
    if caller.trap_sender is None:
        raise Conflict(f"project {caller.project} has no trap, and a test key sends nowhere else")
    given = options.get("sender")
    if given not in (None, caller.trap_sender):
        raise InvalidField("smtp_config_id", f"a test key sends to the trap only, got {given!r}")
    return {name: said for name, said in options.items() if name != "sender"} | {"is_test": True}


async def look_up(conn: Conn, caller: Caller, email_id: UUID) -> Email:
    """Return an email of the caller's project and all that is known of it but its timeline.

    Raises:
        NotFound: the project has no such mail.
    """
    email = await store.find_email(conn, email_id, project_id=caller.project_id)
    if email is None:
        raise NotFound("email", email_id)
    return replace(
        email,
        recipients=await store.list_recipients(conn, email_id) or [_only_recipient(email)],
        attempts=await store.list_attempts(conn, email_id),
        events=await store.list_events(conn, email_id),
    )


def _only_recipient(email: Email) -> Recipient:
    only = Recipient(
        kind="to",
        address=email.recipient_email,
        name=email.recipient_name,
        status=email.status,
        reason=email.reason,
        reply_code=None,
        settled_at=email.finished_at,
    )
    # A mail in the queue, whoever holds it, is one its recipient still waits for.
    return only if email.finished_at is not None else replace(only, status="pending")
