"""SQL of rate limit buckets."""

from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, one
from mailqueue.db.statements.projects import rate_limit as sql


class Leased(NamedTuple):
    """Requests that a lease took, and those left in the window.

    `slot` is where they are counted, to return what is not used. `wait`: seconds until there are as
    many as were asked for, None where the lease has them.
    """

    granted: float
    free: float
    slot: float
    wait: float | None


async def lease(
    conn: Conn,
    bucket: UUID,
    *,
    capacity: float,
    per_second: float,
    seconds: float,
    count: int,
    wanted: int,
    slot: float,
    returned: float,
) -> Leased:
    """Take up to `wanted` requests for some seconds, and return those of an earlier lease."""
    params = {
        "bucket": bucket,
        "capacity": capacity,
        "per_second": per_second,
        "lease": seconds,
        "count": count,
        "wanted": wanted,
        "slot": slot,
        "returned": returned,
    }
    return await one(conn, sql.LEASE_REQUESTS, params, Leased)
