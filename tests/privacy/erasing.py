"""A sent mail, and the erasure of a person, for tests."""

from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import erasing, persons
from mailqueue.privacy.model import ErasureProgress
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.privacy.planted_rows import ANN


async def erased(
    desk: MaintenanceContext, email: str = ANN, *, project: str = "default", suppress: bool = False
) -> ErasureProgress:
    lend = persons.lending(desk.conn)
    (one,) = await persons.projects(desk.conn, project)
    spellings = persons.spellings_of(email)
    begun = await erasing.begin(lend, one.id, spellings, suppress=suppress, by="tests")
    return await erasing.go_on(lend, begun, context=desk, by="tests")


async def sent(conn: Conn, **columns: object) -> UUID:
    """Send one mail of project default."""
    if not await make.scalar(conn, "SELECT count(*) FROM mailqueue.sender_accounts"):
        await make.sender_account(conn)
    mail = await make.queued_email(conn, **{"recipient_email": ANN, **columns})
    worker = await make.worker(conn)
    claims = await claim(conn, worker)
    await settle(conn, claims, Ending.SENT, log=LogStatus.SENT)
    return mail
