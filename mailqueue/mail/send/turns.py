"""Emails whose content is made for each mail are loaded in turn by project, by counted work.

Rendering a template and injecting tracking may take as long as sending hundreds of other emails.
Without turns, the emails of one project would delay those of all others of the process.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.mail.model import LoadedEmail
from mailqueue.mail.send.load import EmailLoader, work_of_tracking

TURN_UNITS = 50_000
"""Units of work of a turn, about 25 ms: with the email that reaches it, the turn ends."""
WAITING_UNITS = 10_000_000
"""Most units of work of the emails of one project that wait in memory, by what its last ones took;
further ones go back to the queue.
"""
THREAD_UNITS = 20_000
"""Units of an email, about 10 ms, from which on the next ones of its project are rendered in a
thread.
"""
MIN_KEPT = 4
"""Emails of a project that stay in memory whatever they take."""
SURPLUS_WAIT = timedelta(seconds=10)
"""Wait of emails that went back to the queue because too many of their project waited."""
SURPLUS = "its project has many emails that take long to render, and they take turns"
_SHARE = 4  # the last email counts a quarter of what is expected of the next
_SHARED = 8
"""Injecting tracking into content that was injected for another email takes an eighth."""
_MAX_CONTENTS = 1_000
"""Contents whose work is remembered."""

Dispatch = Callable[[Sequence[LoadedEmail], Mapping[UUID, float] | None, float], Awaitable[None]]
GiveBack = Callable[[LoadedEmail, str, timedelta], None]


class _Entry(NamedTuple):
    """An email that waits for its turn, with the times of its claim."""

    mail: LoadedEmail
    send_at: Mapping[UUID, float]
    claimed_at: float


@dataclass(slots=True)
class _ProjectTurns:
    """The waiting emails of one project, and the work of those before."""

    waiting: deque[_Entry] = field(default_factory=deque)
    used: int = 0
    """Units of work since another project began to wait."""
    expected: float = 0.0
    """Units of work that its next email is expected to take."""

    def surplus(self) -> list[_Entry]:
        """Take out the newest emails beyond those that may wait."""
        if self.expected * len(self.waiting) <= WAITING_UNITS:
            return []
        kept = max(MIN_KEPT, int(WAITING_UNITS / self.expected))
        return [self.waiting.pop() for _ in range(len(self.waiting) - kept)]

    def note(self, units: int) -> None:
        """Note the work of an email."""
        self.used += units
        self.expected = max(units / _SHARE, self.expected + (units - self.expected) / _SHARE)


class LoadingTurns:
    """The emails of one worker that wait to be rendered and tracked."""

    def __init__(self, loader: EmailLoader, dispatch: Dispatch, give_back: GiveBack) -> None:
        self._loader = loader
        self._dispatch = dispatch
        self._give_back = give_back
        self._projects: dict[UUID, _ProjectTurns] = {}
        self._work_by_content: OrderedDict[int, int] = OrderedDict()
        self.count = 0  # emails that wait or have their turn now
        self._has_some = asyncio.Event()
        self._lock = asyncio.Lock()  # held during a turn

    def add(
        self, mails: Sequence[LoadedEmail], send_at: Mapping[UUID, float], claimed_at: float
    ) -> None:
        """Let emails wait for their turns; return those that are too many to the queue."""
        for mail in mails:
            project = self._projects.get(mail.claim.project_id)
            if project is None:
                # A project that joins begins where the one stands that used the least.
                used = min((one.used for one in self._projects.values()), default=0)
                project = self._projects[mail.claim.project_id] = _ProjectTurns(used=used)
            project.waiting.append(_Entry(mail, send_at, claimed_at))
        self.count += len(mails)
        for project in self._projects.values():
            self._return_surplus(project)
        self._has_some.set()

    async def take_forever(self) -> None:
        """Load and dispatch emails in turn, until cancelled."""
        while True:
            await self._has_some.wait()
            async with self._lock:
                await self.take_turn()
            await asyncio.sleep(0)

    async def take_turn(self) -> None:
        """Load and dispatch emails of the project that used the least work so far."""
        self._projects = {id_: one for id_, one in self._projects.items() if one.waiting}
        if not self._projects:
            self._has_some.clear()
            return
        project = min(self._projects.values(), key=lambda one: one.used)
        first = project.waiting[0]
        chosen: list[LoadedEmail] = []
        limit, begun = project.used + TURN_UNITS, 0
        try:
            while project.waiting and project.used < limit:
                if project.waiting[0].send_at is not first.send_at:
                    break  # of another claim
                mail = project.waiting.popleft().mail
                begun += 1
                mail, units = await self._rendered(mail, project)
                project.note(units + self._work_of_tracking(mail))
                chosen.append(mail)
            loaded = await self._loader.tracked(chosen)
            ids = {mail.claim.id for mail in loaded}
            send_at = {id_: at for id_, at in first.send_at.items() if id_ in ids}
            await self._dispatch(loaded, send_at or None, first.claimed_at)
        finally:
            self.count -= begun
        self._return_surplus(project)

    async def take_all(self) -> list[LoadedEmail]:
        """Return the emails that wait, and let none wait any more."""
        async with self._lock:
            found = [entry.mail for one in self._projects.values() for entry in one.waiting]
            self._projects.clear()
            self.count -= len(found)
            return found

    async def _rendered(self, mail: LoadedEmail, project: _ProjectTurns) -> tuple[LoadedEmail, int]:
        template = mail.template
        if template is None:
            return mail, 0
        with self._loader.begun([mail]):
            if project.expected < THREAD_UNITS and template.is_compiled:
                return self._loader.rendered(mail), template.used
            return await asyncio.to_thread(self._loader.rendered, mail), template.used

    def _work_of_tracking(self, mail: LoadedEmail) -> int:
        """Return the units of work of an email's tracking; less where others shared its content."""
        if mail.rendered is not None or mail.content is None:
            return work_of_tracking(mail)
        known = self._work_by_content.get(mail.content.id)
        if known is not None:
            return known
        units = work_of_tracking(mail)
        self._work_by_content[mail.content.id] = units // _SHARED
        if len(self._work_by_content) > _MAX_CONTENTS:
            self._work_by_content.popitem(last=False)
        return units

    def _return_surplus(self, project: _ProjectTurns) -> None:
        surplus = project.surplus()
        self.count -= len(surplus)
        for entry in surplus:
            self._give_back(entry.mail, SURPLUS, SURPLUS_WAIT)
