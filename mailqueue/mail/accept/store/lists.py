"""SQL of one email to a list of contacts."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from psycopg.errors import ObjectInUse
from psycopg.types.json import Jsonb

from mailqueue.core.errors import Conflict
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.contacts import sends as sql


class BegunBatch(NamedTuple):
    """A batch, and whether an earlier call with the same idempotency key began it."""

    batch_id: UUID
    is_repeated: bool


async def is_list_of(
    conn: Conn, project_id: UUID, *, recipient: str, options: Mapping[str, object]
) -> bool:
    """Return whether the recipient of mail with these options is the name of a list."""
    asked = {
        "project_id": project_id,
        "recipient": recipient,
        "options": Jsonb({"is_test": options.get("is_test")}),
    }
    return await fetch.value(conn, sql.IS_LIST_OF, asked, bool)


async def accept(
    conn: Conn, project_id: UUID, message: Mapping[str, object], *, by: str, is_trial: bool
) -> BegunBatch:
    """Let workers send a message to the contacts of its list; a trial is rolled back.

    Raises:
        InvalidField: it is refused, and nothing is stored.
        Conflict: the project has too many sends to lists that are not finished.
    """
    asked = {"project_id": project_id, "message": Jsonb(with_wire_domains(message)), "by": by}
    try:
        with refusals():
            async with conn.transaction(force_rollback=is_trial):
                return await fetch.one(conn, sql.ACCEPT_LIST_EMAIL, asked, BegunBatch)
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc
