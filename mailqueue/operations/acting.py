"""Cancel, hold, release or resend one email of a project, as the HTTP API and the console do."""

from collections.abc import Mapping
from uuid import UUID

from mailqueue.contract.emails import Acted
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import actions as actions_store

NEEDED: Mapping[str, str] = {
    "cancel": "only mail that is pending, held or being sent can be cancelled",
    "hold": "only mail that is pending can be held",
    "release": "only mail that is held can be released",
    "resend": "only mail that was sent, failed, expired or was cancelled can be resent, "
    "and only while its content is stored",
}
"""The states that each action needs, in words."""
STATES: Mapping[str, frozenset[str]] = {
    "cancel": frozenset({"pending", "held", "assigned"}),
    "hold": frozenset({"pending"}),
    "release": frozenset({"held"}),
    "resend": frozenset({"sent", "failed", "expired", "cancelled"}),
}
"""The states in which each action may be offered; the database decides."""
_WORDS = {"asked": "cancelling"}


class NotAllowed(Conflict):
    """The state of an email does not allow an action."""

    def __init__(self, email_id: UUID, action: str, state: str) -> None:
        self.state = state
        super().__init__(f"email {email_id} is {state}: {NEEDED[action]}")


async def act(
    conn: Conn, email_id: UUID, *, project_id: UUID, action: str, reason: str, by: str
) -> Acted:
    """Cancel, hold, release or resend an email of a project.

    Raises:
        NotFound: the project has no such email.
        NotAllowed: the state of the email does not allow it.
    """
    found = await actions_store.act_on_email(
        conn, email_id, project_id=project_id, action=action, reason=reason, by=by
    )
    if found is None:
        raise NotFound("email", email_id)
    if found.outcome is None:
        raise NotAllowed(email_id, action, found.state)
    return Acted(found.email_id, _WORDS.get(found.outcome, found.outcome))


async def note_view(conn: Conn, project_id: UUID, *, email_id: UUID, part: str) -> None:
    """Record in the audit that the actor of the transaction looked at what an email says."""
    await actions_store.note_view(conn, project_id, email_id=email_id, part=part)
