"""Resend's API: counts of sent mail, in all or by span of time.

Follows resend.com/docs/api-reference/emails and the types of its Python client 2.51. Counts are
exact, by the time of what is counted: an open counts when it happened. Opens and clicks are those
by people. Test keys see test mail.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from starlette.responses import Response

from mailqueue.analytics import spans
from mailqueue.analytics.model import CountsRow, SpanStart, StatsScope, TimeSpan
from mailqueue.analytics.rows import current_time, rows_of
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.analytics import Bucket
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope

METRICS: Mapping[str, tuple[str, ...]] = {
    "sent": ("sent",),
    "delivered": ("delivered",),
    "bounced": ("soft_bounces", "hard_bounces"),
    "bounced_transient": ("soft_bounces",),
    "bounced_permanent": ("hard_bounces",),
    "complained": ("complaints",),
    "suppressed": ("suppressed",),
    "failed": ("failed", "expired"),
    "opened": ("opens",),
    "unique_opened": ("unique_opens",),
    "clicked": ("clicks",),
    "unique_clicked": ("unique_clicks",),
    "unsubscribed": ("unsubscribes",),
}
"""Our counts that each of Resend's is the sum of."""
_BUCKETS = {
    "hourly": Bucket.HOUR,
    "daily": Bucket.DAY,
    "weekly": Bucket.WEEK,
    "monthly": Bucket.MONTH,
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WITHOUT_START = timedelta(days=6)
_FIELDS = {"from": "start_date", "bucket": "granularity"}


def _listed(text: Any) -> Any:
    return text.split(",") if isinstance(text, str) else text


_Words = Annotated[list[StorableText], BeforeValidator(_listed)]


class MetricsQuery(RequestModel):
    """The query of GET /emails/metrics; lists are separated by commas."""

    start_date: StorableText | None = None
    end_date: StorableText | None = None
    timezone: StorableText = "UTC"
    granularity: Literal["hourly", "daily", "weekly", "monthly"] = "daily"
    metrics: _Words | None = None
    dimensions: _Words | None = None


async def metrics(call: RequestContext) -> Response:
    """Return counts of a time, and by span of it where dimension `period` is asked for."""
    query = query_of(call, MetricsQuery)
    names = _known(query.metrics or list(METRICS), list(METRICS), "metrics")
    dimensions = _known(query.dimensions or [], ["period"], "dimensions")
    async with call.reports() as conn:
        span = spans.quarters(await _span(call, conn, query))
        try:
            starts = await spans.whole(conn, span, _BUCKETS[query.granularity])
        except InvalidField as exc:
            raise exc.named(_FIELDS.get(exc.field, exc.field)) from None
        within = [SpanStart(span.since, starts[0].local_at), *starts[1:-1]]
        within.append(SpanStart(span.until, starts[-1].local_at))
        scope = StatsScope(call.caller.project_id, call.caller.is_test)
        rows = await rows_of(conn, scope, within)
    document: dict[str, Any] = {
        "object": "metrics",
        "start_date": stamp(span.since),
        "end_date": stamp(span.until),
        "metrics": names,
        "dimensions": dimensions,
        "granularity": query.granularity,
        "totals": _counts(rows, names),
    }
    if dimensions:
        by_span = {row.n: row for row in rows}
        document["data"] = [
            {
                "period": one.local_at.isoformat(),
                **_counts([by_span[n]] if n in by_span else [], names),
            }
            for n, one in enumerate(starts[:-1], 1)
        ]
    return json_answer(document)


def _counts(rows: Sequence[CountsRow], names: Sequence[str]) -> dict[str, int]:
    return {
        name: sum(getattr(row, column) for row in rows for column in METRICS[name])
        for name in names
    }


def _known(given: Sequence[str], known: Sequence[str], field: str) -> list[str]:
    """Return what is asked for, each once. Pure.

    Raises:
        InvalidField: one is not counted here.
    """
    for one in given:
        if one not in known:
            why = f"{one[:100]!r} is not counted here; use any of {', '.join(known)}"
            raise InvalidField(field, why)
    return list(dict.fromkeys(given))


async def _span(call: RequestContext, conn: Conn, query: MetricsQuery) -> TimeSpan:
    """Return the time that is counted; a last day is included.

    Raises:
        InvalidField: a time is invalid, or there is none or too much between both.
    """
    until = await current_time(conn)
    if query.end_date is not None:
        until = _time_of(query.end_date, "end_date", is_last=True)
    if query.start_date is not None:
        since = _time_of(query.start_date, "start_date")
    else:
        since = max(until, datetime.min.replace(tzinfo=UTC) + _WITHOUT_START) - _WITHOUT_START
    try:
        return await spans.requested_span(
            conn, since, until, query.timezone, project_id=call.caller.project_id
        )
    except InvalidField as exc:
        why = exc.why.replace("`to`", "`end_date`")
        raise InvalidField(_FIELDS.get(exc.field, exc.field), why) from None


def _time_of(text: str, field: str, *, is_last: bool = False) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        at = (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).astimezone(UTC)
        return at + timedelta(days=1) if is_last and _DAY.fullmatch(text) else at
    except (ValueError, OverflowError):
        raise InvalidField(field, "must be a day or a time in ISO 8601") from None


METRICS_ENDPOINTS = (
    Endpoint(
        "GET",
        "/emails/metrics",
        Scope.ANALYTICS_READ,
        "Count emails.",
        metrics,
        test_keys=ForTestKeys.OWN,
    ),
)
