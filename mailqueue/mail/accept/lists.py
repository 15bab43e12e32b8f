"""One email whose recipient is the name of a list: a batch, whose mail workers make."""

from uuid import UUID

from mailqueue.contacts.model import is_list_name
from mailqueue.contract.sending import Repeated, Sent
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail, message_of, unstorable
from mailqueue.mail.accept.store import lists as lists_store

EXPANDING = "expanding"


async def is_list(conn: Conn, email: NewEmail, project_id: UUID) -> bool:
    """Return whether the recipient of an email is the name of a list of the project."""
    return is_list_name(email.recipient) and await lists_store.is_list_of(
        conn, project_id, recipient=email.recipient, options=email.options
    )


async def accept_for_list(
    conn: Conn, email: NewEmail, project_id: UUID, *, by: str, is_trial: bool = False
) -> Sent:
    """Let workers send an email to the contacts of its list; the id is that of the batch.

    A trial is rolled back.

    Raises:
        InvalidField: it is refused, and nothing is stored.
        Conflict: the project has too many sends to lists that are not finished.
    """
    if (fault := unstorable(email)) is not None:
        raise fault
    begun = await lists_store.accept(conn, project_id, message_of(email), by=by, is_trial=is_trial)
    return (Repeated if begun.is_repeated else Sent)(begun.batch_id, EXPANDING, None)
