"""SQL of mail to lists of contacts."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.errors import ObjectInUse
from psycopg.types.json import Jsonb

from mailqueue.contacts.sends.model import ListSend
from mailqueue.contract.contacts import ListCount
from mailqueue.core.errors import Conflict
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import part_refusals, refusals
from mailqueue.db.statements.contacts import sends as sql


async def expand(
    conn: Conn, project_id: UUID, batch_id: UUID | None, send: ListSend, *, by: str
) -> UUID:
    """Let workers make the mail of a list; return the id of the send.

    Repeated for a batch and list, it returns the same id.

    Raises:
        InvalidField: there is no such list, or content, options or variables are refused.
        Conflict: the project has too many sends that are not finished.
    """
    asked = {
        "project_id": project_id,
        "batch_id": batch_id,
        "list": send.list_name,
        "content": Jsonb(send.content),
        "options": Jsonb(with_wire_domains(send.options)),
        "variables": Jsonb(send.variables),
        "own": Jsonb(send.own),
        "local_at": send.local_at,
        "time_zone": send.time_zone,
        "excluded": list(send.excluded),
        "by": by,
    }
    try:
        with refusals():
            return await fetch.value(conn, sql.EXPAND_LIST, asked, UUID)
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc


async def find_batch(conn: Conn, send_id: UUID) -> UUID:
    """Return the id of the batch of a send."""
    return await fetch.value(conn, sql.FIND_BATCH_OF_SEND, {"id": send_id}, UUID)


async def count(
    conn: Conn, project_id: UUID, *, list_name: str, category: str, checked: int
) -> ListCount:
    """Count the contacts of a list, and those of the first `checked` that are suppressed.

    Raises:
        InvalidField: there is no such list.
    """
    asked = {
        "project_id": project_id,
        "list": list_name,
        "category": category,
        "checked": checked,
    }
    with refusals():
        return await fetch.one(conn, sql.COUNT_LIST, asked, ListCount)


async def find_contact_ids(conn: Conn, project_id: UUID, addresses: Sequence[str]) -> list[UUID]:
    """Return the ids of the contacts with these addresses, in any spelling."""
    asked = {"project_id": project_id, "addresses": list(addresses)}
    found: list[UUID] = await fetch.value(conn, sql.FIND_CONTACT_IDS, asked, list)
    return found


async def advance(conn: Conn, *, send_id: UUID, claim_no: int, limit: int) -> str:
    """Make the next mail of a send; return `more`, `done`, `stopped`, `gone` or `lost`.

    Raises:
        InvalidField: its content or options are refused, such as a template that was deleted.
        ProjectFull: the project may have no more mail now.
        Conflict: another transaction changes or removes a contact; nothing was made.
    """
    asked = {"id": send_id, "claim_no": claim_no, "limit": limit}
    with part_refusals():
        return await fetch.value(conn, sql.CONTINUE_LIST_SEND, asked, str)
