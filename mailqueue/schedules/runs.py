"""The handler of queue `schedule-runs`: make the mail of a run in parts, from where it stands."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import Conflict, InvalidField, ProjectFull
from mailqueue.core.outcome import Again, Defer, Done, Failed, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue.handler import Handler
from mailqueue.schedules.countries import ZoneFinder
from mailqueue.schedules.model import ClaimedRun, RunEnd
from mailqueue.schedules.store import runs as runs_store
from mailqueue.settings.environment import Settings

PART = 500
"""Recipients whose mail is made in one transaction."""
MAX_PARTS = 40
"""Parts after which a run lets others of the queue go first."""
SMALLER = 8
"""Divisor of the size of a part for which the project has no room."""
FULL_WAIT = timedelta(seconds=5)
"""Wait while the project or the installation accepts no more mail."""
BUSY_WAIT = timedelta(seconds=3)
"""Wait while a transaction of others holds a contact; runs of others go on."""


class RunHandler(Handler[ClaimedRun, RunEnd]):
    """Makes the mail of runs; each part is committed with its progress."""

    row = ClaimedRun

    def __init__(self, link: Link, finder: ZoneFinder) -> None:
        self._link = link
        self._finder = finder

    async def handle(self, row: ClaimedRun) -> Outcome | RunEnd:
        size = PART
        for _ in range(MAX_PARTS):
            zones = await self._zones(row)
            step = partial(
                runs_store.step, run_id=row.id, claim_no=row.claim_no, limit=size, zones=zones
            )
            try:
                state = await self._link.call(step)
            except InvalidField as exc:
                return RunEnd("failed", str(exc))
            except Conflict as exc:
                return Defer(str(exc), BUSY_WAIT)
            except ProjectFull as exc:
                if size == 1:
                    return Defer(str(exc), FULL_WAIT)
                size = max(1, size // SMALLER)  # there may be room for some
                continue
            reach("schedules.part_made")
            if state == "lost":
                break
            if state != "more":
                return RunEnd(state)
        return Again(timedelta(0))

    async def commit(self, conn: Conn, done: Sequence[tuple[ClaimedRun, RunEnd]]) -> list[Outcome]:
        for row, end in done:
            if end.state != "failed":
                await runs_store.end_run(conn, row.id)
        return [_outcome_of(end) for _, end in done]

    async def close(self) -> None:
        await self._link.close()
        self._finder.close()

    async def _zones(self, row: ClaimedRun) -> Mapping[str, str]:
        """Return time zones by address, where a file of countries tells them."""
        if not self._finder.is_open:
            return {}
        read = partial(runs_store.networks, run_id=row.id, claim_no=row.claim_no, limit=PART)
        found = {one.email_key: one.network for one in await self._link.call(read)}
        zones = {key: self._finder.zone_of(network) for key, network in found.items()}
        return {key: zone for key, zone in zones.items() if zone is not None}


def run_handler(settings: Settings) -> RunHandler:
    """Return the handler of queue `schedule-runs`."""
    link = Link(settings.database, "mailqueue/schedules")
    return RunHandler(link, ZoneFinder(settings.tracking.country_file))


def _outcome_of(end: RunEnd) -> Outcome:
    if end.state == "failed":
        return Failed(end.reason or "failed")
    return Done(None if end.state == "done" else end.state)
