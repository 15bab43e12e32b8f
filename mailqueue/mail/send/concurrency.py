"""Decides how many mails each line may have under way at once in this process."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from uuid import UUID

Mail = tuple[UUID, int]
"""A claimed mail: its id and the number of its claim."""
FEW = 4
"""So many mails of a stranger may hang at most: each may find out that the last was at fault."""

ASIDE = 2
"""So many times as much may be set aside as moves: servers that fall silent at once hang all that
moves, and those that had their turn next hang what was freed."""


class Share:
    """What one line has of the slots. It is a stranger's until its server has answered a mail."""

    __slots__ = ("aside", "held", "held_as_stranger", "is_stranger", "trials", "waiting")

    def __init__(self) -> None:
        self.is_stranger = True
        self.held = 0  # by mail that moves
        self.held_as_stranger = 0  # of these, taken before its server answered
        self.aside = 0
        self.trials = 0  # open mails, held or aside, by which a stranger was tried
        self.waiting = 0  # connections


class Slots:
    """A fixed number of places; a mail has one from its mark until its outcome is durable.

    A mail whose server says nothing is set aside: its place goes to mail that moves, and it has
    one of twice as many others until it ends. Where those are all taken, it stays where it is.

    Of what it could reach of either, each line leaves a quarter to others; and what could not be
    set aside, were it to hang, is a small part of what is not stuck. Strangers, lines whose server
    has not answered a mail here yet, or no longer does, take one mail that moves, a few that are
    set aside, and of one half: many that never answer do not stop those that do.
    """

    def __init__(self, count: int) -> None:
        self._count = self._free = count
        self._room_aside = count * ASIDE
        self._for_strangers = max(1, count // 2)
        self._held_by_strangers = 0
        self._aside: set[Mail] = set()
        self._stuck: set[Mail] = set()  # they should be aside, and there was no place
        self.wanted: Callable[[], None] = _nothing  # told when somebody begins to wait
        self._waiting: deque[tuple[Share, int, asyncio.Future[int]]] = deque()

    @property
    def for_one(self) -> int:
        """Return how many places a line can have where no other wants any."""
        return _left_to(0, self._count)

    @property
    def are_wanted(self) -> bool:
        """Return whether somebody waits."""
        return bool(self._waiting)

    @property
    def count_silent(self) -> int:
        """Return of how many mails nothing is heard, set aside or not."""
        return len(self._aside) + len(self._stuck)

    async def take(self, wanted: int, share: Share) -> int:
        """Wait for at least one and take up to `wanted`, sharing with others of the line."""
        taken: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        share.waiting += 1
        self._waiting.append((share, wanted, taken))
        self._deal()
        if taken.done():  # at once: no turn of others in between
            return taken.result()
        self.wanted()
        try:
            return await taken
        except asyncio.CancelledError:
            if taken.cancelled():
                share.waiting -= 1
            else:
                self.give_back(taken.result(), share)
            raise

    def give_back(self, count: int, share: Share) -> None:
        """Free slots that no mail was marked for."""
        share.trials = max(0, share.trials - count)
        self._release(count, share)
        self._deal()

    def end(self, mails: Iterable[tuple[Mail, Share]]) -> None:
        """Free the slots of mails whose outcomes are being written, all before any is dealt."""
        for mail, share in mails:
            if self._aside and mail in self._aside:
                self._aside.remove(mail)
                self._room_aside += 1
                share.aside -= 1
            else:
                self._stuck.discard(mail)
                self._release(1, share)
            share.trials = min(share.trials, share.held + share.aside)
        self._deal()

    def set_aside(self, mails: Iterable[Mail], share: Share) -> int:
        """Let marked mails whose server says nothing keep no other mail waiting; return
        their number.
        """
        before = share.aside
        for mail in mails:
            if mail in self._aside:
                continue
            if _left_to(share.aside, self._room_aside) == 0:
                self._stuck.add(mail)
                continue
            self._stuck.discard(mail)
            self._aside.add(mail)
            self._room_aside -= 1
            share.aside += 1
            self._release(1, share)
        self._deal()
        return share.aside - before

    def greet(self, share: Share) -> None:
        """Know the line: its server answers."""
        if share.is_stranger:
            share.is_stranger = False
            self._held_by_strangers -= share.held_as_stranger
            share.held_as_stranger = share.trials = 0
            self._deal()

    def estrange(self, share: Share) -> None:
        """Treat the line as a stranger's until its server answers again."""
        share.is_stranger = True

    def _release(self, count: int, share: Share) -> None:
        self._free += count
        share.held -= count
        as_stranger = min(count, share.held_as_stranger)
        share.held_as_stranger -= as_stranger
        self._held_by_strangers -= as_stranger

    def _deal(self) -> None:
        """Give what is free to those who wait, in their order."""
        passed: list[tuple[Share, int, asyncio.Future[int]]] = []
        while self._waiting and self._free:
            share, wanted, taken = waiting = self._waiting.popleft()
            if taken.done():  # cancelled
                continue
            allowed = self._allowed(share)
            if allowed == 0:
                passed.append(waiting)
                continue
            # Connections side by side are quicker than one with all the mail.
            count = min(wanted, -(-allowed // share.waiting))
            share.waiting -= 1
            share.held += count
            self._free -= count
            if share.is_stranger:
                share.held_as_stranger += count
                share.trials += count
                self._held_by_strangers += count
            taken.set_result(count)
        self._waiting.extendleft(reversed(passed))

    def _allowed(self, share: Share) -> int:
        allowed = _left_to(share.held, self._free)
        if not share.is_stranger:
            return max(0, min(allowed, self._most_of(share) - share.held))
        most = FEW if self._room_aside > self._count else 2
        for_one = min(1 - share.held_as_stranger, most - share.trials)
        return max(0, min(allowed, for_one, self._for_strangers - self._held_by_strangers))

    def _most_of(self, share: Share) -> int:
        """Return how many places the line may have: more would have nowhere to go if it hangs."""
        part = (self._count - len(self._stuck)) // 6
        return max(1, part, min(FEW, self._count // 8), _left_to(share.aside, self._room_aside))


def _nothing() -> None:
    pass


def _left_to(held: int, free: int) -> int:
    """Return how many of the free places one may take who leaves a quarter to others."""
    reachable = free + held
    return min(free, max(0, reachable - reachable // 4 - held))
