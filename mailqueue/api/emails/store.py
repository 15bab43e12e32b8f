"""SQL of actions on emails and names of sender accounts for the API."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, maybe
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.mail import batches as sql


class ChangedEmail(NamedTuple):
    """Result of a change of a mail; `outcome` None: its state does not allow it."""

    outcome: str | None
    state: str


class ActedOnBatch(NamedTuple):
    """Numbers of mails by what was done, None if nothing could be, and by status afterwards."""

    results: Mapping[str, int] | None
    counts: Mapping[str, int]


async def change(
    conn: Conn,
    email_id: UUID,
    *,
    project_id: UUID,
    at: datetime | None,
    priority: str | None,
    by: str,
) -> ChangedEmail | None:
    """Change time or priority of a mail of a project; return None if there is no such mail."""
    asked = {"id": email_id, "project_id": project_id, "at": at, "priority": priority, "by": by}
    with refusals():
        return await maybe(conn, sql.CHANGE_EMAIL, asked, ChangedEmail)


async def act_on_batch(
    conn: Conn, batch_id: UUID, *, project_id: UUID, action: str, reason: str, by: str
) -> ActedOnBatch | None:
    """Cancel, hold or release the mails of a batch; return None if there is no such batch."""
    asked = {"id": batch_id, "project_id": project_id, "action": action, "reason": reason}
    with refusals():
        return await maybe(conn, sql.ACT_ON_BATCH, asked | {"by": by}, ActedOnBatch)


async def find_sender_name(conn: Conn, sender: str, *, project_id: UUID) -> str | None:
    """Return the name of the sender account that has this id or name."""
    asked = {"given": sender, "project_id": project_id}
    return await maybe(conn, sql.FIND_SENDER_NAME, asked, str)
