"""Decides which clicks of a moment are a person's, and where links lead: all that is asked of the
database for a group of requests.
"""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.tracking import store
from mailqueue.tracking.machines import SCAN_WITHIN, Machine, is_burst

MAX_CACHED_LINKS = 50_000


class Click(NamedTuple):
    """A link that is followed; `machine` is what the request itself tells."""

    project_id: UUID
    email_id: UUID
    link: bytes
    machine: Machine | None


class Destinations:
    """Where tracked links lead, kept in a process: a link never leads elsewhere."""

    def __init__(self, most: int = MAX_CACHED_LINKS) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[UUID, bytes], str] = OrderedDict()

    def held(self, click: Click) -> str | None:
        """Return where a link leads if that is known here; the database is not asked."""
        return self._kept.get((click.project_id, click.link))

    async def of(self, conn: Conn, clicks: Sequence[Click]) -> list[str | None]:
        """Return where each leads; None where nothing is known of it."""
        wanted = {(each.project_id, each.link) for each in clicks}
        found: dict[tuple[UUID, bytes], str] = {}
        for key in wanted:
            if (url := self._kept.get(key)) is not None:
                found[key] = url
        if missing := [key for key in wanted if key not in found]:
            for each in await store.find_links(conn, missing):
                key = (each.project_id, bytes(each.link))
                self._kept[key] = found[key] = each.url
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return [found.get((each.project_id, each.link)) for each in clicks]


async def judged(conn: Conn, clicks: Sequence[Click]) -> list[Machine | None]:
    """Return of each click what made it; those before it are judged anew where it shows a burst."""
    unknown = [each for each in clicks if each.machine is None]
    ids = sorted({each.email_id for each in unknown})
    if not ids:
        return [each.machine for each in clicks]
    now = datetime.now(UTC)
    bursts = set()
    for recent in await store.look_at_clicks(conn, ids, within=SCAN_WITHIN):
        links = {each.link.hex() for each in clicks if each.email_id == recent.email_id}
        if is_burst(links.union(recent.links), sent_at=recent.sent_at, now=now):
            bursts.add(recent.email_id)
    if bursts:
        await store.judge_clicks(conn, sorted(bursts), within=SCAN_WITHIN, machine=Machine.BURST)
    return [
        Machine.BURST if each.machine is None and each.email_id in bursts else each.machine
        for each in clicks
    ]
