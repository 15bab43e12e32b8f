"""The check of the standby that answers reports."""

from datetime import timedelta

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.db.replica import BEHIND
from mailqueue.db.reported import reported
from mailqueue.operations.doctor.context import CheckContext, passed, problem
from mailqueue.operations.model import CheckState, Finding
from mailqueue.operations.store import health as store
from mailqueue.operations.store.health import ReportSource
from mailqueue.projects.actor import act_for
from mailqueue.settings.environment import DatabaseSettings

NAME = "replica"
LATE = timedelta(minutes=1)
"""Time by which counts of the standby may be older."""
VARIABLE = "MAILQUEUE_REPLICA_URL"


async def replica(context: CheckContext) -> Finding:
    """Check that the standby answers, has the data of this installation, and is not late."""
    settings = context.settings.database.for_reports
    if settings is None:
        return passed(NAME, f"none is configured here ({VARIABLE})")
    here = await _source(context.conn)
    try:
        with reported(settings):
            there = await _source_at(settings)
    except Unavailable as exc:
        return _warning(
            f"{exc}; reports are read from the primary",
            fix=f"start the standby, or correct {VARIABLE}",
        )
    if isinstance(there, str):
        return _warning(
            f"it lacks what reports read, so the primary answers them: {there}",
            fix=f"wait until it has replayed the last migration, or correct {VARIABLE}",
        )
    if there.first_project != here.first_project:
        return problem(
            NAME,
            f"the server of {VARIABLE} has the data of another installation",
            fix=f"name a standby of this database in {VARIABLE}, and restart API and console",
        )
    late = max(here.as_of - there.as_of, timedelta(0))
    if late > LATE:
        return _warning(
            f"its counts are {late.total_seconds():.0f} seconds older than those of the primary",
            fix="look at pg_stat_replication on the primary, and for long queries on the standby",
        )
    return passed(NAME, f"its counts are {late.total_seconds():.0f} seconds older than here")


async def _source_at(settings: DatabaseSettings) -> ReportSource | str:
    """Return what tells the servers apart; of one that is behind a migration, what it lacks."""
    async with connect(settings, application_name="mailqueue/doctor") as conn:
        try:
            return await _source(conn)
        except BEHIND as exc:
            return exc.diag.message_primary or str(exc)


async def _source(conn: Conn) -> ReportSource:
    async with conn.transaction():
        # Both logins see every project: one with the role of the API alone would see none.
        await act_for(conn, None, by="mailqueue doctor", is_read_only=True)
        return await store.read_report_source(conn)


def _warning(says: str, *, fix: str) -> Finding:
    return Finding(NAME, is_ok=False, says=says, fix=fix, state=CheckState.WARNING)
