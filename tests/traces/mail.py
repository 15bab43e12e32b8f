"""Mail whose spans a test exports."""

from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.traces.exporting import ExportState, TraceExporter
from tests import make
from tests.mail.claim import steps

TRACE_ID, SPAN_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACE = f"00-{TRACE_ID}-{SPAN_ID}-01"


async def sent(conn: Conn, count: int = 1, **columns: object) -> list[UUID]:
    """Queue emails, and have a worker send them."""
    if not await make.scalar(conn, "SELECT count(*) FROM mailqueue.sender_accounts"):
        await make.sender_account(conn)
    worker = await make.worker(conn)
    ids = await make.queued_emails(conn, count, **columns)
    emails = await steps.claim(conn, worker)
    await steps.settle(conn, emails, Ending.SENT, log=LogStatus.SENT, response_ms=20, code="250")
    return list(ids)


async def exported(exporter: TraceExporter, turns: int = 4) -> list[ExportState]:
    return [await exporter.turn() for _ in range(turns)]
