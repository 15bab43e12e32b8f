"""Cancel, hold, release, resend, resolve or move one email, as the HTTP API and the console do."""

from collections.abc import Mapping
from uuid import UUID

from mailqueue.contract.emails import Acted
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import actions as actions_store
from mailqueue.operations.store.actions import ActedOn

_IN_DOUBT = "only mail that is held because it may have been sent can be resolved"
NEEDED: Mapping[str, str] = {
    "cancel": "only mail that is pending, held or being sent can be cancelled",
    "hold": "only mail that is pending can be held",
    "release": "only mail that is held can be released",
    "resend": "only mail that was sent, failed, expired, was suppressed or cancelled can be "
    "resent, only while its content is stored and not all of its recipients are suppressed",
    "was_sent": _IN_DOUBT,
    "was_not_sent": _IN_DOUBT,
    "move": "only mail that is pending or held, and has no custom SMTP server, can be moved",
}
"""The states that each action needs, in words."""
STATES: Mapping[str, frozenset[str]] = {
    "cancel": frozenset({"pending", "held", "assigned"}),
    "hold": frozenset({"pending"}),
    "release": frozenset({"held"}),
    "resend": frozenset({"sent", "failed", "expired", "cancelled", "suppressed"}),
    "was_sent": frozenset({"held"}),
    "was_not_sent": frozenset({"held"}),
    "move": frozenset({"pending", "held"}),
}
"""The states in which each action may be offered; the database decides."""
_WORDS = {"asked": "cancelling"}


class NotAllowed(Conflict):
    """The state of an email does not allow an action."""

    def __init__(self, email_id: UUID, action: str, state: str) -> None:
        self.state = state
        super().__init__(f"email {email_id} is {state}: {NEEDED[action]}")


async def act(
    conn: Conn, email_id: UUID, *, project_id: UUID, action: str, reason: str | None, by: str
) -> Acted:
    """Cancel, hold, release or resend an email of a project, or record whether it was sent.

    Raises:
        NotFound: the project has no such email.
        NotAllowed: the state of the email does not allow it.
    """
    found = await actions_store.act_on_email(
        conn, email_id, project_id=project_id, action=action, reason=reason, by=by
    )
    return _acted(found, email_id, action)


async def suppressed_recipients(conn: Conn, email_id: UUID, *, project_id: UUID) -> list[str]:
    """Return the recipients of an email that cannot be sent again, as all are suppressed.

    Empty if the email can be sent again, or is not finished.
    """
    return await actions_store.suppressed_recipients(conn, email_id, project_id=project_id)


async def move(
    conn: Conn, email_id: UUID, *, project_id: UUID, sender: str | None, reason: str, by: str
) -> Acted:
    """Send an email of a project by the sender account of that name, or by any for None.

    Raises:
        NotFound: the project has no such email.
        InvalidField: the project has no such sender account.
        NotAllowed: the state of the email does not allow it.
    """
    found = await actions_store.move(
        conn, email_id, project_id=project_id, sender=sender, reason=reason, by=by
    )
    return _acted(found, email_id, "move")


def _acted(found: ActedOn | None, email_id: UUID, action: str) -> Acted:
    if found is None:
        raise NotFound("email", email_id)
    if found.outcome is None:
        raise NotAllowed(email_id, action, found.state)
    return Acted(found.email_id, _WORDS.get(found.outcome, found.outcome))


async def note_view(conn: Conn, project_id: UUID, *, email_id: UUID, part: str) -> None:
    """Record in the audit that the actor of the transaction looked at what an email says."""
    await actions_store.note_view(conn, project_id, email_id=email_id, part=part)


async def note_act(
    conn: Conn, project_id: UUID, *, action: str, subject: str, detail: Mapping[str, object]
) -> None:
    """Record in the audit what the actor of the transaction did where the act itself does not."""
    await actions_store.note_act(conn, project_id, action=action, subject=subject, detail=detail)
