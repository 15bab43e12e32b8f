"""Destinations of tracked links, and which clicks programs made, for a group of clicks."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.tracking import store
from mailqueue.tracking.machines import SCAN_WITHIN, Machine, is_burst, is_instant

MAX_CACHED_LINKS = 50_000


class Click(NamedTuple):
    """A followed link; `machine` is the program recognized by the request's headers alone."""

    project_id: UUID
    email_id: UUID
    link: bytes
    machine: Machine | None


class Destinations:
    """A cache of the destinations of tracked links; a link's destination never changes."""

    def __init__(self, max_links: int = MAX_CACHED_LINKS) -> None:
        self._max_links = max_links
        self._kept: OrderedDict[tuple[UUID, bytes], str] = OrderedDict()

    def held(self, click: Click) -> str | None:
        """Return a destination from the cache; None when it is not there."""
        return self._kept.get((click.project_id, click.link))

    async def of(self, conn: Conn, clicks: Sequence[Click]) -> list[str | None]:
        """Return the destination of each click; None for an unknown link."""
        wanted = {(each.project_id, each.link) for each in clicks}
        found: dict[tuple[UUID, bytes], str] = {}
        for key in wanted:
            if (url := self._kept.get(key)) is not None:
                found[key] = url
        if missing := [key for key in wanted if key not in found]:
            for each in await store.find_links(conn, missing):
                key = (each.project_id, bytes(each.link))
                self._kept[key] = found[key] = each.url
            while len(self._kept) > self._max_links:
                self._kept.popitem(last=False)
        return [found.get((each.project_id, each.link)) for each in clicks]


async def judged(conn: Conn, clicks: Sequence[Click]) -> list[Machine | None]:
    """Return the program that made each click, None for a person.

    When a click completes a burst, the recorded clicks of the burst are marked too.
    """
    unknown = [each for each in clicks if each.machine is None]
    ids = sorted({each.email_id for each in unknown})
    if not ids:
        return [each.machine for each in clicks]
    bursts, instants = set(), set()
    for recent in await store.look_at_clicks(conn, ids, within=SCAN_WITHIN):
        links = {each.link.hex() for each in clicks if each.email_id == recent.email_id}
        if is_burst(links.union(recent.links), sent_at=recent.sent_at, now=recent.now):
            bursts.add(recent.email_id)
        elif is_instant(sent_at=recent.sent_at, now=recent.now):
            instants.add(recent.email_id)
    if bursts:
        await store.judge_clicks(conn, sorted(bursts), within=SCAN_WITHIN, machine=Machine.BURST)
    programs = dict.fromkeys(instants, Machine.INSTANT) | dict.fromkeys(bursts, Machine.BURST)
    return [each.machine or programs.get(each.email_id) for each in clicks]
