"""Decides how many mails each sender account may have under way at once in this process."""

import asyncio
from collections import Counter


class Slots:
    """A fixed number of places; a mail has one from its mark until its outcome is durable.

    Of what it could reach, each account leaves a quarter to others: one whose server says nothing
    for minutes does not stop them. Strangers, accounts whose server has not answered a mail here
    yet, share one half: many that never answer do not stop those that do.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._for_strangers = max(1, count // 2)
        self._strangers: set[int] = set()
        self._held: Counter[int] = Counter()  # by account
        self._waiting: Counter[int] = Counter()  # connections by account
        self._freed = asyncio.Event()

    async def take(self, wanted: int, account: int, *, is_stranger: bool = False) -> int:
        """Wait for at least one and take up to `wanted`, sharing with others of the account."""
        if is_stranger:
            self._strangers.add(account)
        self._waiting[account] += 1
        try:
            while (allowed := self._allowed(account)) == 0:
                self._freed.clear()
                await self._freed.wait()
            # Connections side by side are quicker than one with all the mail.
            taken = min(wanted, -(-allowed // self._waiting[account]))
        finally:
            self._waiting[account] -= 1
        self._free -= taken
        self._held[account] += taken
        return taken

    def give_back(self, count: int, account: int) -> None:
        """Free slots."""
        self._free += count
        self._held[account] -= count
        self._freed.set()

    def greet(self, account: int) -> None:
        """Know the account: its server answers."""
        if account in self._strangers:
            self._strangers.remove(account)
            self._freed.set()

    def has_room_for_strangers(self) -> bool:
        """Say whether strangers hold less than half of what they may."""
        return 2 * self._held_by_strangers() < self._for_strangers

    def _held_by_strangers(self) -> int:
        return sum(self._held[stranger] for stranger in self._strangers)

    def _allowed(self, account: int) -> int:
        reachable = self._free + self._held[account]
        share = reachable - reachable // 4
        allowed = min(self._free, max(0, share - self._held[account]))
        if account not in self._strangers:
            return allowed
        return min(allowed, max(0, self._for_strangers - self._held_by_strangers()))
