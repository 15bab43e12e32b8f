"""SQL of runs that are made in parts."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import part_refusals
from mailqueue.db.statements import schedules as sql


class UnzonedNetwork(NamedTuple):
    """The network from which an address opened mail last."""

    email_key: str
    network: str


async def networks(conn: Conn, run_id: UUID, *, claim_no: int, limit: int) -> list[UnzonedNetwork]:
    """Return networks of the next recipients of a run whose time zone is not known."""
    asked = {"id": run_id, "claim_no": claim_no, "limit": limit}
    return await fetch.many(conn, sql.NETWORKS_OF_RUN, asked, UnzonedNetwork)


async def step(
    conn: Conn, run_id: UUID, *, claim_no: int, limit: int, zones: Mapping[str, str]
) -> str:
    """Make the next mails of a run; return more, done, cancelled or lost.

    Raises:
        InvalidField: a list of the run is gone, or the project is deleted.
        ProjectFull: the project may have no more mail now.
        Conflict: another transaction changes or removes a contact; nothing was made.
    """
    asked = {
        "id": run_id,
        "claim_no": claim_no,
        "limit": limit,
        "keys": arrays.texts(zones),
        "zones": arrays.texts(zones.values()),
    }
    with part_refusals():
        return await fetch.value(conn, sql.CONTINUE_SCHEDULE_RUN, asked, str)


async def end_run(conn: Conn, run_id: UUID) -> None:
    """Forget what a finished run was made from."""
    await fetch.run(conn, sql.END_SCHEDULE_RUN, {"id": run_id})
