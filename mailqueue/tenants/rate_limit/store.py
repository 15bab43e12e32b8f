"""SQL of rate limit buckets."""

from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, one


class Leased(NamedTuple):
    """Tokens a lease took, and those left in the bucket."""

    granted: float
    tokens: float


async def lease(
    conn: Conn,
    bucket: UUID,
    *,
    capacity: float,
    per_second: float,
    tokens: float,
    returned: float,
) -> Leased:
    """Take up to `tokens` tokens, and return the `returned` ones of an earlier lease."""
    params = {
        "bucket": bucket,
        "capacity": capacity,
        "per_second": per_second,
        "wanted": tokens,
        "returned": returned,
    }
    return await one(conn, "lease_requests", params, Leased)
