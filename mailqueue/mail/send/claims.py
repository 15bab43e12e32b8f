"""Claims emails for one worker, and finds those of a claim whose answer was lost."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from mailqueue.db.faults import may_be_of_a_row
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail
from mailqueue.mail.send.begun import QUEUE
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.mail.send.store.claims import Taken
from mailqueue.queue.store import isolate_claim
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)


class Claims:
    """The claims of one worker, one after another.

    A connection may break between the commit of a claim and its answer. The emails are then
    assigned to this worker, and no other claims them while it lives: repeat the call.
    """

    def __init__(self, worker: int, *, limit: int, lease: timedelta) -> None:
        self._worker = worker
        self._limit = limit
        self._lease = lease
        self._last = 0  # number of the newest claim whose answer arrived
        self._is_in_doubt = False

    async def take(self, conn: Conn, *, avoid: Sequence[int], may_mark: bool = False) -> Taken:
        """Claim due emails of accounts not in `avoid`, with their contents and recipients.

        If one of them cannot be decoded, the claims are returned alone, to be read one by one. An
        email whose change is refused is left out. With `may_mark` a single email is marked.

        Raises:
            LeaseLost: this worker was declared lost, or has left.
        """
        found = await self._lost_claims(conn) if self._is_in_doubt else []
        if found:
            taken = Taken(found)
        else:
            self._is_in_doubt = True
            try:
                taken = await claims_store.take(
                    conn,
                    self._worker,
                    limit=self._limit,
                    lease=self._lease,
                    avoid=avoid,
                    may_mark=may_mark,
                )
            except Exception as exc:
                if not may_be_of_a_row(exc):
                    raise
                log.warning("claim.refused", error=f"{type(exc).__name__}: {exc}"[:200])
                taken = Taken(await self._lost_claims(conn) or await self._unread(conn, avoid))
        self._is_in_doubt = False
        self._last = max((email.claim_no for email in taken.emails), default=self._last)
        return taken

    async def take_suspect(self, conn: Conn) -> Taken:
        """Claim one due email whose worker stopped while handling it, without reading it.

        Raises:
            LeaseLost: this worker was declared lost, or has left.
        """
        suspect = partial(claims_store.claim_suspect, conn, self._worker, lease=self._lease)
        try:
            return Taken(await suspect())
        except Exception as exc:
            if not may_be_of_a_row(exc):
                raise
            async with isolated(conn):
                return Taken(await suspect())

    async def _lost_claims(self, conn: Conn) -> list[ClaimedEmail]:
        """Return the emails of claims whose answers were lost."""
        return await claims_store.find_claims(conn, self._worker, after=self._last)

    async def _unread(self, conn: Conn, avoid: Sequence[int]) -> list[ClaimedEmail]:
        async with isolated(conn):
            return await claims_store.claim(
                conn, self._worker, limit=self._limit, lease=self._lease, avoid=avoid
            )


@asynccontextmanager
async def isolated(conn: Conn) -> AsyncIterator[None]:
    """Run a transaction whose claims leave out each email whose change is refused."""
    async with conn.transaction():
        await isolate_claim(conn, QUEUE)
        yield
