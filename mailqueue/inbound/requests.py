"""The requests of providers: store, list, show the body, retry."""

from uuid import UUID

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.inbound import store

keep = store.keep
list_page = store.list_received
retry = store.retry


async def body_of(conn: Conn, request_id: UUID) -> bytes:
    """Return the body of a request, byte for byte.

    Raises:
        NotFound: there is no such request, or its retention is over.
    """
    found = await store.find_body(conn, request_id)
    if found is None:
        raise NotFound("request of a provider", request_id)
    return found
