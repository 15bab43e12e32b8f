"""Marks mail before it is handed over, at most so many at once, many lines in one statement.

A mail holds one of the slots from its mark until its outcome is durable. So no more than that many
can have an unknown fate when the process dies.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from mailqueue.db.link import Link
from mailqueue.mail import store
from mailqueue.mail.model import ClaimedEmail, Mark, MarkVerdict, Settlement

_Request = tuple[Sequence[ClaimedEmail], "asyncio.Future[dict[UUID, Mark]]"]


class Marker:
    """The slots of one worker process and the record of what stands in them."""

    def __init__(self, link: Link, *, worker: int, slots: int) -> None:
        self._link = link
        self._worker = worker
        self._free = slots
        self._slot_freed = asyncio.Event()
        self._open: dict[tuple[UUID, int], int] = {}  # to the account of the mail
        self._held: Counter[int] = Counter()  # slots by account
        self._requests: list[_Request] = []
        self._has_requests = asyncio.Event()

    async def take_slots(self, wanted: int, account: int) -> int:
        """Wait for at least one slot and take as many as the account may have, up to `wanted`.

        Of what it could reach, each account leaves a quarter to others: one whose server says
        nothing for minutes does not stop them.
        """
        while (allowed := self._allowed(account)) == 0:
            self._slot_freed.clear()
            await self._slot_freed.wait()
        taken = min(wanted, allowed)
        self._free -= taken
        self._held[account] += taken
        return taken

    def _allowed(self, account: int) -> int:
        reachable = self._free + self._held[account]
        share = reachable - reachable // 4
        return min(self._free, max(0, share - self._held[account]))

    def free_slots(self, count: int, account: int) -> None:
        """Give slots back that were taken and not used."""
        self._free += count
        self._held[account] -= count
        self._slot_freed.set()

    async def mark(self, emails: Sequence[ClaimedEmail]) -> dict[UUID, Mark]:
        """Mark mails that hold slots; those that may not go keep theirs until they are settled."""
        done: asyncio.Future[dict[UUID, Mark]] = asyncio.get_running_loop().create_future()
        self._requests.append((emails, done))
        self._has_requests.set()
        return await done

    def settled(self, group: Sequence[Settlement]) -> None:
        """Forget mails whose outcome is durable now, and free their slots."""
        for one in group:
            self.forget(one.id, one.claim_no)

    def forget(self, email_id: UUID, claim_no: int) -> None:
        """Free the slot of a mail that is no longer ours, if it holds one."""
        account = self._open.pop((email_id, claim_no), None)
        if account is not None:
            self.free_slots(1, account)

    async def run(self) -> None:
        """Serve requests until cancelled; those that come while one is written go together."""
        while True:
            await self._has_requests.wait()
            self._has_requests.clear()
            requests, self._requests = self._requests, []
            new = [email for emails, _ in requests for email in emails]
            opened = list(self._open)
            self._open.update({(email.id, email.claim_no): email.assigned_to for email in new})
            marks = await self._link.call(
                lambda conn, new=new, opened=opened: store.mark(  # type: ignore[misc]
                    conn, self._worker, new=new, opened=opened
                )
            )
            found = {mark.id: mark for mark in marks}
            for emails, done in requests:
                if not done.done():
                    done.set_result({email.id: _found(email, found) for email in emails})


def _found(email: ClaimedEmail, marks: dict[UUID, Mark]) -> Mark:
    return marks.get(email.id, Mark(email.id, MarkVerdict.LOST))
