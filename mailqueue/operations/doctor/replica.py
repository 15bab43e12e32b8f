"""The check of the standby that answers reports."""

from datetime import timedelta

from psycopg import OperationalError

from mailqueue.core.errors import Unavailable
from mailqueue.db.faults import unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.db.replica import BEHIND
from mailqueue.operations.doctor.context import CheckContext, passed, problem
from mailqueue.operations.model import CheckState, Finding
from mailqueue.operations.store import health as store
from mailqueue.operations.store.health import ReportSource
from mailqueue.tenants.actor import act_for

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
        async with connect(settings, application_name="mailqueue/doctor") as conn:
            there = await _source(conn)
    except BEHIND as exc:
        return _warning(
            f"it lacks what reports read, so the primary answers them: {exc.diag.message_primary}",
            fix=f"wait until it has replayed the last migration, or correct {VARIABLE}",
        )
    except (OperationalError, Unavailable) as exc:
        why = unavailable(exc, settings) if isinstance(exc, OperationalError) else exc
        return _warning(
            f"{why}; reports are read from the primary",
            fix=f"start the standby, or correct {VARIABLE}",
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


async def _source(conn: Conn) -> ReportSource:
    async with conn.transaction():
        # Both logins see every project: one with the role of the API alone would see none.
        await act_for(conn, None, by="mailqueue doctor", is_read_only=True)
        return await store.read_report_source(conn)


def _warning(says: str, *, fix: str) -> Finding:
    return Finding(NAME, is_ok=False, says=says, fix=fix, state=CheckState.WARNING)
