"""What a case works on, and its preparation, which is not counted."""

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
ACCOUNTS = 2_000
"""Sender accounts of a project that has many."""
MANY = 800
"""Sender accounts beside which others are added."""

MORE_ACCOUNTS = """
    INSERT INTO mailqueue.sender_accounts
           (project_id, name, email, smtp_host, smtp_port, smtp_tls, is_private_ok)
    SELECT a.project_id, 'nowhere-' || n, a.email, a.smtp_host, a.smtp_port, a.smtp_tls,
           a.is_private_ok
      FROM mailqueue.sender_accounts AS a, generate_series(2, %s) AS n
     WHERE a.name = 'nowhere'
"""

ADDED_ACCOUNTS = """
    INSERT INTO mailqueue.sender_accounts
           (project_id, name, email, smtp_host, smtp_port, smtp_tls, is_private_ok)
    SELECT a.project_id, %s::text || n, a.email, a.smtp_host, a.smtp_port, a.smtp_tls,
           a.is_private_ok
      FROM mailqueue.sender_accounts AS a, generate_series(1, %s) AS n
     WHERE a.name = 'nowhere'
"""


@dataclass(slots=True)
class CaseSetup:
    """What a case works on; `data` is an empty folder, `max_units` bounds the units of work."""

    counting: Counting
    database: DatabaseSettings
    data: Path
    max_units: int
    worker: int = 0
    claims: list[list[ClaimedEmail]] = field(default_factory=list)
    mails: list[UUID] = field(default_factory=list)

    def driver(self) -> AbstractAsyncContextManager[Conn]:
        """Open a session whose statements are not counted."""
        return connect(self.database, application_name=DRIVER)


async def nothing(setup: CaseSetup) -> None:
    """Prepare nothing."""


async def account(setup: CaseSetup) -> None:
    """Add a sender account that sends nowhere to the default project."""
    async with setup.driver() as conn:
        await make.sender_account(conn, name="nowhere")


async def queued(setup: CaseSetup) -> None:
    """Queue the mails of all claims, and register a worker."""
    await account(setup)
    async with setup.driver() as conn:
        setup.worker = await make.worker(conn)
        await conn.execute(FILL.encode(), (setup.max_units * BATCH,))


async def crowded(setup: CaseSetup) -> None:
    """Queue the mails of all claims in a project with ACCOUNTS sender accounts."""
    await queued(setup)
    async with setup.driver() as conn:
        await conn.execute(MORE_ACCOUNTS, (ACCOUNTS,))


async def many_accounts(setup: CaseSetup) -> None:
    """Add MANY sender accounts to the default project."""
    await account(setup)
    async with setup.driver() as conn:
        await conn.execute(MORE_ACCOUNTS, (MANY,))


async def claimed(setup: CaseSetup) -> None:
    """Claim what was queued."""
    await queued(setup)
    async with setup.driver() as conn:
        setup.claims = [await claim_batch(conn, setup.worker) for _ in range(setup.max_units)]


async def mails_left(setup: CaseSetup) -> None:
    """Send one mail for each unit."""
    async with setup.driver() as conn:
        setup.mails = [
            await left(conn, recipient_email=address_of(number))
            for number in range(setup.max_units)
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
