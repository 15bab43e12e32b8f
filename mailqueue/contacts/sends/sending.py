"""Send to a list as a batch of its own."""

from uuid import UUID

from mailqueue.contacts.sends import store
from mailqueue.contacts.sends.model import ListSend
from mailqueue.core.storable_text import unstorable
from mailqueue.db.fetch import Conn


async def begin(
    conn: Conn, project_id: UUID, send: ListSend, *, by: str, batch_id: UUID | None = None
) -> UUID:
    """Let workers make the mail of a list; return the id of the batch.

    With a batch id, such as that of a run, a repeated call changes nothing, and other lists may
    have the same: a contact gets one mail of a batch.

    Raises:
        InvalidField: there is no such list, or content, options or variables are refused.
        Conflict: the project has too many sends that are not finished.
    """
    given = {
        "content": send.content,
        "options": send.options,
        "variables": send.variables,
        "custom_data": send.own,
    }
    for name, value in given.items():
        if (fault := unstorable(name, value)) is not None:
            raise fault
    async with conn.transaction():
        send_id = await store.expand(conn, project_id, batch_id, send, by=by)
        return await store.find_batch(conn, send_id)
