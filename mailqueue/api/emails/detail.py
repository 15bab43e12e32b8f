"""One email of a project with its details."""

from dataclasses import replace
from uuid import UUID

from mailqueue.api.emails import store as emails_store
from mailqueue.contract.emails import Email, Recipient
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.tenants.model import Caller


async def look_up(conn: Conn, caller: Caller, email_id: UUID) -> Email:
    """Return an email of the caller's project with recipients and attempts, without events.

    Raises:
        NotFound: the project has no such mail.
    """
    email = await emails_store.find_email(conn, email_id, project_id=caller.project_id)
    if email is None:
        raise NotFound("email", email_id)
    return replace(
        email,
        recipients=await emails_store.list_recipients(conn, email_id) or [_only_recipient(email)],
        attempts=await emails_store.list_attempts(conn, email_id),
        events=await emails_store.list_events(conn, email_id),
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
    # The recipient of a mail that is queued, whether claimed or not.
    return only if email.finished_at is not None else replace(only, status="pending")
