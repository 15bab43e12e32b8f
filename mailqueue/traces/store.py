"""SQL of the export of traces."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import traces as sql
from mailqueue.traces.model import SentStages, TraceCall, TracePage, TraceStep


async def begin_page(
    conn: Conn, holder: UUID, *, lease: timedelta, max_age: timedelta, is_start: bool
) -> TracePage:
    """Take or keep the right to export, and return what is exported next."""
    values = {"holder": holder, "lease": lease, "max_age": max_age, "is_start": is_start}
    return await fetch.one(conn, sql.BEGIN_TRACE_PAGE, values, TracePage)


async def read_page(conn: Conn, page: TracePage, *, ratio: float, limit: int) -> list[TraceStep]:
    """Return the next attempts and events to export, in order, at most `limit`."""
    values = {
        "exported_to": page.exported_to,
        "after_key": page.after_key,
        "until": page.until,
        "ratio": ratio,
        "limit": limit,
    }
    return await fetch.many(conn, sql.READ_TRACE_PAGE, values, TraceStep)


async def read_stages(conn: Conn, email_ids: Sequence[UUID]) -> list[SentStages]:
    """Return what workers did at attempts of emails, in the order of time."""
    ids = arrays.uuids(email_ids)
    return await fetch.many(conn, sql.READ_SEND_STAGES, {"ids": ids}, SentStages)


async def read_calls(
    conn: Conn, *, ratio: float, max_age: timedelta, limit: int
) -> list[TraceCall]:
    """Return the oldest calls of webhooks that wait for their export, at most `limit`.

    Those without `accepted_at` have no span, and end with the others.
    """
    values = {"ratio": ratio, "max_age": max_age, "limit": limit}
    return await fetch.many(conn, sql.READ_TRACED_CALLS, values, TraceCall)


async def end_calls(conn: Conn, calls: Sequence[TraceCall]) -> None:
    """Write that the spans of calls are exported."""
    values = {
        "deliveries": [one.delivery_id for one in calls],
        "times": [one.tried_at for one in calls],
    }
    await fetch.run(conn, sql.END_TRACED_CALLS, values)


async def end_page(
    conn: Conn,
    holder: UUID,
    *,
    to: tuple[datetime, str] | None,
    spans: int = 0,
    left_out: int = 0,
    error: str | None = None,
) -> bool:
    """Write how far spans are exported; False if another process exports.

    With `to` None the page is exported again.
    """
    at, after = to if to is not None else (None, None)
    values = {
        "holder": holder,
        "to": at,
        "after": after,
        "spans": spans,
        "left_out": left_out,
        "error": error,
    }
    return await fetch.value(conn, sql.END_TRACE_PAGE, values, bool)


async def release(conn: Conn, holder: UUID) -> None:
    """Let another process export at once."""
    await fetch.run(conn, sql.RELEASE_TRACE_EXPORT, {"holder": holder})
