"""What can be done with what providers told: list it, read it as it came, read it once more."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.inbound import store
from mailqueue.inbound.model import Kept, Received


async def keep(conn: Conn, group: Sequence[Kept]) -> int:
    """Keep requests for a worker to read, twins aside; return how many are new."""
    return await store.keep(conn, group)


async def list_page(
    conn: Conn,
    *,
    project: str | None = None,
    provider: str | None = None,
    status: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
) -> list[Received]:
    """List them, the newest first."""
    return await store.list_received(
        conn, project=project, provider=provider, status=status, before=before, limit=limit
    )


async def body_of(conn: Conn, request_id: UUID) -> bytes:
    """Return what was told, octet for octet.

    Raises:
        NotFound: there is no such request, or its time is over.
    """
    found = await store.find_body(conn, request_id)
    if found is None:
        raise NotFound("request of a provider", request_id)
    return found


async def retry(conn: Conn, ids: Sequence[UUID], *, by: str) -> int:
    """Have those be read once more that failed or were of no mail; return their number."""
    return await store.retry(conn, ids, by=by)
