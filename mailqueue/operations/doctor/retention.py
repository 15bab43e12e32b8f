"""The check that records leave: reads the registry RETAINED, as the database has it."""

from mailqueue.operations.doctor.context import CheckContext, passed, some
from mailqueue.operations.model import CheckState, Finding
from mailqueue.operations.store import health as health_store

GRACE_DAYS = 7
"""Days past its retention after which a row is reported; the task runs every day."""
MAX_PAGES = 500
"""Pages of a table that are read; of a larger one a sample."""


async def retention(context: CheckContext) -> Finding:
    """Check that no table has rows far past their retention."""
    if not await health_store.may_read_retention(context.conn):
        return passed("retention", "left out: this login may not read all tables")
    late = await health_store.kinds_past_retention(context.conn, days=GRACE_DAYS, pages=MAX_PAGES)
    if not late:
        return passed("retention", f"no table has rows {GRACE_DAYS} days past their retention")
    named = [f"{one.kind} has rows of {one.oldest:%Y-%m-%d}" for one in late]
    return Finding(
        "retention",
        is_ok=False,
        says=f"records stay too long: {some(named)}",
        fix="run `mailqueue maintain retention`, and see that cron runs `mailqueue maintain`",
        state=CheckState.WARNING,
    )
