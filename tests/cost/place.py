"""Where a case works, and what is prepared there before anything is counted."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from bench.claimer import LEASE
from bench.claims import FILL
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import ClaimedEmail
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.cost.counting import DRIVER, Counting
from tests.events.sent_mail import left

BATCH = 100
"""Mails of a batch, a claim and a settlement."""


@dataclass(slots=True)
class Place:
    """Where a case works; `data` is an empty folder, `most` the units that may be done."""

    counting: Counting
    database: DatabaseSettings
    data: Path
    most: int
    worker: int = 0
    claims: list[list[ClaimedEmail]] = field(default_factory=list)
    mails: list[UUID] = field(default_factory=list)

    def driver(self) -> AbstractAsyncContextManager[Conn]:
        """Open a session whose statements are not counted."""
        return connect(self.database, application_name=DRIVER)


async def nothing(place: Place) -> None:
    """Prepare nothing."""


async def account(place: Place) -> None:
    """Add a sender account that leads nowhere to the default project."""
    async with place.driver() as conn:
        await make.sender_account(conn, name="nowhere")


async def queued(place: Place) -> None:
    """Queue the mails of all claims, and register a worker."""
    await account(place)
    async with place.driver() as conn:
        place.worker = await make.worker(conn)
        await conn.execute(FILL.encode(), (place.most * BATCH,))


async def claimed(place: Place) -> None:
    """Claim what was queued."""
    await queued(place)
    async with place.driver() as conn:
        place.claims = [await claim_batch(conn, place.worker) for _ in range(place.most)]


async def mails_left(place: Place) -> None:
    """Have a mail for each unit that was sent."""
    async with place.driver() as conn:
        place.mails = [
            await left(conn, recipient_email=address_of(number)) for number in range(place.most)
        ]


async def claim_batch(conn: Conn, worker: int) -> list[ClaimedEmail]:
    """Claim a batch of what is queued."""
    await claims_store.gather_lanes(conn)
    emails = (await claims_store.take(conn, worker, limit=BATCH, lease=LEASE)).emails
    assert len(emails) == BATCH
    return emails


def address_of(number: int) -> str:
    """Return the recipient of the mail of this number."""
    return f"person{number}@example.com"
