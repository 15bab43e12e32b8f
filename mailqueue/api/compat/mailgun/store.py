"""What requests of Mailgun's API name of a project."""

from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, maybe


class Grounds(NamedTuple):
    """What mail of a project may be from (None: anything), and the account that catches it."""

    allowed_from: list[str] | None
    trap: str | None


async def grounds_of(conn: Conn, project_id: UUID) -> Grounds | None:
    """Return what a project's mail stands on."""
    return await maybe(conn, "domain_grounds", {"project_id": project_id}, Grounds)
