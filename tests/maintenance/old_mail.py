"""Old mail: created like any other, then all its rows are moved into the past together."""

from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.mail.claim.steps import claim, settle

LONG_AGO = 200
"""Age in days: more than a month and its hot days."""

_MOVED = (
    "UPDATE mailqueue.email_history SET finished_at = finished_at - {age}, created_at = created_at"
    " - {age}, content_on = content_on - {days} WHERE project_id = {project}",
    "UPDATE mailqueue.send_logs SET sent_at = sent_at - {age} WHERE project_id = {project}",
    "UPDATE mailqueue.email_events SET occurred_at = occurred_at - {age}"
    " WHERE project_id = {project}",
    "UPDATE mailqueue.email_contents SET created_on = created_on - {days}"
    " WHERE project_id = {project}",
    "UPDATE mailqueue.accepted_days SET day = day - {days} WHERE project_id = {project}",
)


async def months_for(conn: Conn, days: int) -> None:
    """Create the partitions of a time that many days ago, also if midnight passes meanwhile."""
    for back in (days, days - 1):
        await conn.execute(
            "SELECT mailqueue.make_partitions_of(current_date - %s::integer)", (back,)
        )


async def sent(conn: Conn, count: int, *, project: str = "default", **columns: object) -> None:
    """Send mails of a project, a tenth of them refused; one has a recipient in Cc."""
    project_id = await make.project_named(conn, project)
    if not await make.scalar(
        conn, "SELECT count(*) FROM mailqueue.sender_accounts WHERE project_id = %s", project_id
    ):
        await make.sender_account(conn, project_id=project_id)
    await make.queued_email(conn, project=project, cc=["copy@example.com"], **columns)
    await make.queued_emails(conn, count - 1, project=project, **columns)
    worker = await make.worker(conn)
    while claims := await claim(conn, worker):
        refused = len(claims) // 10
        await settle(conn, claims[refused:], Ending.SENT, log=LogStatus.SENT)
        if refused:
            await settle(conn, claims[:refused], Ending.FAILED, reason="no such user")
    await conn.execute("SELECT mailqueue.gather_lanes()")


async def aged(conn: Conn, *, project: str = "default", days: int = LONG_AGO) -> UUID:
    """Move a project's finished mail into the past; return the project."""
    await months_for(conn, days)
    project_id = await make.project_named(conn, project)
    slots = {"age": f"interval '{days} d'", "days": str(days), "project": f"'{project_id}'"}
    for statement in _MOVED:
        await conn.execute(statement.format(**slots).encode())
    return project_id


async def old(conn: Conn, count: int, *, project: str = "default", days: int = LONG_AGO) -> UUID:
    """Create mails of a project that were sent that many days ago; return the project."""
    await sent(conn, count, project=project)
    return await aged(conn, project=project, days=days)
