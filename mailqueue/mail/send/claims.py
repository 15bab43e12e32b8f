"""Claims emails for one worker, and finds those of a claim whose answer was lost."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.model import ClaimedEmail
from mailqueue.mail.send.store import claims as claims_store


class Claims:
    """The claims of one worker, one after another.

    A connection may break between the commit of a claim and its answer. The emails are then
    assigned to this worker, and no other claims them while it lives.
    """

    def __init__(self, link: Link, worker: int, *, limit: int, lease: timedelta) -> None:
        self._link = link
        self._worker = worker
        self._limit = limit
        self._lease = lease
        self._last = 0  # number of the newest claim whose answer arrived
        self._is_in_doubt = False

    async def take(self, *, avoid: Sequence[int]) -> list[ClaimedEmail]:
        """Claim due emails of accounts other than those to avoid.

        Raises:
            LeaseLost: this worker was declared lost, or has left.
        """
        claimed = await self._link.call(partial(self._claim_or_find, avoid=avoid))
        self._is_in_doubt = False
        self._last = max((email.claim_no for email in claimed), default=self._last)
        return claimed

    async def _claim_or_find(self, conn: Conn, avoid: Sequence[int]) -> list[ClaimedEmail]:
        if self._is_in_doubt:
            found = await claims_store.find_claims(conn, self._worker, after=self._last)
            if found:
                return found
        self._is_in_doubt = True
        return await claims_store.claim(
            conn, self._worker, limit=self._limit, lease=self._lease, avoid=avoid
        )
