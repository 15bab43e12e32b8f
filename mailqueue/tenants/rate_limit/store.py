"""Buckets of requests as rows."""

from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, one


class Leased(NamedTuple):
    """What a lease took, and what is left for others."""

    granted: float
    tokens: float


async def lease(
    conn: Conn,
    bucket: UUID,
    *,
    capacity: float,
    per_second: float,
    wanted: float,
    returned: float,
) -> Leased:
    """Take up to `wanted` requests, giving back what an earlier lease had left."""
    params = {
        "bucket": bucket,
        "capacity": capacity,
        "per_second": per_second,
        "wanted": wanted,
        "returned": returned,
    }
    return await one(conn, "lease_requests", params, Leased)
