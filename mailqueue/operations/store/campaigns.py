"""SQL of campaigns."""

from typing import NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.operations import campaigns as sql


class WaitingCampaign(NamedTuple):
    """Emails of a campaign that wait to be sent, and that are held; "": of none."""

    name: str
    queued: int
    held: int


async def waiting(conn: Conn, project_id: UUID, *, most: int) -> list[WaitingCampaign]:
    """Return what waits of each campaign, of at most `most` queued and as many held emails."""
    asked = {"project_id": project_id, "most": most}
    return await fetch.many(conn, sql.LIST_WAITING_CAMPAIGNS, asked, WaitingCampaign)
