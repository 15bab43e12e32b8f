"""SQL of what happened to mail, for SendGrid's API."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, many
from mailqueue.db.statements.emails import messages as sql


class EmailActivity(NamedTuple):
    """What happened to a mail that has events; `last_at` is the time of the newest."""

    email_id: UUID
    opens: int
    clicks: int
    is_delivered: bool
    is_bounced: bool
    last_at: datetime


async def list_activity(
    conn: Conn, ids: Sequence[UUID], *, project_id: UUID
) -> dict[UUID, EmailActivity]:
    """Return what happened to those of these mails that have events."""
    asked = {"ids": list(ids), "project_id": project_id}
    found = await many(conn, sql.LIST_ACTIVITY, asked, EmailActivity)
    return {one.email_id: one for one in found}
