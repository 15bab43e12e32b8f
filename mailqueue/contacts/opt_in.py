"""Contacts confirm that they want mail to a list."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from mailqueue.contacts import store
from mailqueue.db.fetch import Conn


class AskedState(StrEnum):
    """What became of a request to confirm."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class ListToConfirm:
    """The list that a mail asked to confirm, as people know it."""

    list: str
    state: AskedState


async def list_to_confirm(conn: Conn, project_id: UUID, email_id: UUID) -> ListToConfirm | None:
    """Return what a mail asked for; None where the contact or the list is gone since."""
    found = await store.find_asked(conn, project_id, email_id)
    if found.list is None or found.state is None:
        return None
    return ListToConfirm(found.list, AskedState(found.state))


async def confirm(
    conn: Conn,
    project_id: UUID,
    email_id: UUID,
    *,
    wording: str,
    agent: str | None,
    network: str | None,
) -> bool:
    """Confirm what a mail asked for; return False where that is over, or was done before."""
    return await store.confirm(
        conn, project_id, email_id, wording=wording, agent=agent, network=network
    )
