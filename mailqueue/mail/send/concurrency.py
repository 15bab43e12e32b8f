"""Decides how many emails each account sender may have in flight at once in this process."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

Mail = tuple[UUID, int]
"""A claimed email: its id and the number of its claim."""
MAX_UNPROVEN_ASIDE = 4
"""Emails of one unproven account that may be set aside; each shows whether the one before it was
at fault."""

ASIDE_FACTOR = 2
"""Slots for emails that are set aside, as a multiple of the regular slots. Servers that fall
silent together take every regular slot, and those that follow take the slots freed by them."""


class AccountSlots:
    """The slots of one account sender. It is unproven until its server has answered an email."""

    __slots__ = ("aside", "held", "held_unproven", "is_unproven", "trials", "waiting")

    def __init__(self) -> None:
        self.is_unproven = True
        self.held = 0  # regular slots
        self.held_unproven = 0  # of these, taken while unproven
        self.aside = 0
        self.trials = 0  # emails in flight, held or aside, that were sent while unproven
        self.waiting = 0  # connections that wait for a slot


class Slots:
    """A fixed number of slots; an email holds one from its mark until its outcome is durable.

    An email whose server does not reply is set aside: its slot goes to other mail, and it takes
    one of twice as many others until it ends. While all of those are taken it keeps its slot.

    Each account leaves a quarter of what it could reach, of either kind, to others. Its emails
    that could not be set aside if its server stalled are a small part of the regular slots that do
    not stall now. Unproven accounts, whose
    server has not answered an email here yet or no longer replies, hold one regular slot each, a
    few that are set aside, and together at most half of the slots: many servers that never reply
    do not block those that do.
    """

    def __init__(self, count: int) -> None:
        self._count = self._free = count
        self.max_per_account = _available(0, count)  # while no other account wants any
        self.in_use = 0  # regular slots and those of emails that are set aside
        self.stalled_count = 0  # emails whose server does not reply, set aside or not
        self._free_aside = count * ASIDE_FACTOR
        self._max_unproven = max(1, count // 2)
        self._held_unproven = 0
        self._aside: set[Mail] = set()
        self._stuck: set[Mail] = set()  # to be set aside, but no slot was free
        self.on_waiting: Callable[[], None] = _nothing  # called when a connection begins to wait
        # Connections that wait for slots, and how many they want.
        self.waiters: deque[tuple[AccountSlots, int, asyncio.Future[int]]] = deque()

    async def take(self, wanted: int, account: AccountSlots) -> int:
        """Wait for at least one slot and take up to `wanted`, shared with the account's others."""
        taken: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        account.waiting += 1
        self.waiters.append((account, wanted, taken))
        self._assign()
        if taken.done():  # at once, without a turn of the event loop
            return taken.result()
        self.on_waiting()
        try:
            return await taken
        except asyncio.CancelledError:
            if taken.cancelled():
                account.waiting -= 1
            else:
                self.give_back(taken.result(), account)
            raise

    def give_back(self, count: int, account: AccountSlots) -> None:
        """Free slots for which no email was marked."""
        account.trials = max(0, account.trials - count)
        self._assign({account: count})

    def release(self, mails: Iterable[tuple[Mail, AccountSlots]]) -> None:
        """Free the slots of emails whose outcomes are being written, then assign them at once."""
        freed: dict[AccountSlots, int] = {}
        for mail, account in mails:
            if self._aside and mail in self._aside:
                self._aside.remove(mail)
                self._free_aside += 1
                account.aside -= 1
                self.in_use -= 1
                freed.setdefault(account, 0)
            else:
                self._stuck.discard(mail)
                freed[account] = freed.get(account, 0) + 1
        self.stalled_count = len(self._aside) + len(self._stuck)
        self._assign(freed)

    def set_aside(self, mails: Iterable[Mail], account: AccountSlots) -> int:
        """Move marked emails whose server does not reply out of the regular slots; return how
        many were moved.
        """
        before = account.aside
        for mail in mails:
            if mail in self._aside:
                continue
            if _available(account.aside, self._free_aside) == 0:
                self._stuck.add(mail)
                continue
            self._stuck.discard(mail)
            self._aside.add(mail)
            self._free_aside -= 1
            account.aside += 1
            self.in_use += 1
        self.stalled_count = len(self._aside) + len(self._stuck)
        self._assign({account: account.aside - before})
        return account.aside - before

    def mark_responsive(self, account: AccountSlots) -> None:
        """Count the account as proven: its server replies."""
        if account.is_unproven:
            account.is_unproven = False
            self._held_unproven -= account.held_unproven
            account.held_unproven = account.trials = 0
            self._assign()

    def mark_unresponsive(self, account: AccountSlots) -> None:
        """Count the account as unproven until its server replies again."""
        account.is_unproven = True

    def _assign(self, freed: Mapping[AccountSlots, int] | None = None) -> None:
        """Free regular slots of accounts, then assign what is free to the waiting connections."""
        for account, count in (freed or {}).items():
            unproven = min(count, account.held_unproven)
            account.held_unproven -= unproven
            self._held_unproven -= unproven
            account.held -= count
            account.trials = min(account.trials, account.held + account.aside)
            self._free += count
            self.in_use -= count
        passed: list[tuple[AccountSlots, int, asyncio.Future[int]]] = []
        while self.waiters and self._free:
            account, wanted, taken = waiting = self.waiters.popleft()
            if taken.done():  # cancelled
                continue
            allowed = _available(account.held, self._free)
            if account.is_unproven:
                trials = MAX_UNPROVEN_ASIDE if self._free_aside > self._count else 2
                own = min(1 - account.held_unproven, trials - account.trials)
                allowed = min(allowed, own, self._max_unproven - self._held_unproven)
            else:  # more could not be set aside if the account stalled
                part = (self._count - len(self._stuck)) // 6
                few = min(MAX_UNPROVEN_ASIDE, self._count // 8)
                most = max(1, part, few, _available(account.aside, self._free_aside))
                allowed = min(allowed, most - account.held)
            if allowed <= 0:
                passed.append(waiting)
                continue
            # Several connections are faster than one with all the mail.
            count = min(wanted, -(-allowed // account.waiting))
            account.waiting -= 1
            account.held += count
            self._free -= count
            self.in_use += count
            if account.is_unproven:
                account.held_unproven += count
                account.trials += count
                self._held_unproven += count
            taken.set_result(count)
        self.waiters.extendleft(reversed(passed))


def _nothing() -> None:
    pass


def _available(held: int, free: int) -> int:
    """Return how many free slots an account may take while it leaves a quarter to others."""
    reachable = free + held
    return min(free, max(0, reachable - reachable // 4 - held))
