"""Mailgun's API: metrics by time and by one dimension, such as the tag.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/metrics. Counts are those
of `/v3/{domain}/stats/total`; rates are parts of what was sent.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from email.utils import format_datetime
from typing import Any, Literal

from pydantic import Field, ValidationError
from starlette.responses import Response

from mailqueue.analytics import spans
from mailqueue.analytics.model import CountsRow, SpanStart, Starts, StatsScope
from mailqueue.analytics.rows import current_time, rows_by_value, rows_of
from mailqueue.api.compat.mailgun.counts.times import counted_time, starts_of
from mailqueue.api.compat.mailgun.domains import check_name
from mailqueue.api.compat.mailgun.faults import NamedParameter
from mailqueue.api.compat.reading import document_of
from mailqueue.api.compat.seen_tags import LONGEST_READING
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import invalid_request, json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.http.validation import validated
from mailqueue.contract.analytics import Dimension
from mailqueue.contract.counts import METRICS as COUNTS
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope

MAX_BODY_BYTES = 256 * 1024
MAX_ITEMS = 1_000
MAX_SPANS_BY_VALUE = 400
"""Spans where each has counts of up to 500 values."""
TIME = "time"
_DIMENSIONS = {
    "tag": Dimension.TAG,
    "country": Dimension.COUNTRY,
    "device": Dimension.DEVICE,
    "recipient_domain": Dimension.DOMAIN,
}
_SUMS: Mapping[str, tuple[str, ...]] = {
    "accepted_count": ("accepted",),
    "accepted_outgoing_count": ("accepted",),
    "accepted_incoming_count": (),
    "sent_count": ("sent",),
    "delivered_count": ("delivered",),
    "delivered_smtp_count": ("delivered",),
    "opened_count": ("opens",),
    "unique_opened_count": ("unique_opens",),
    "clicked_count": ("clicks",),
    "unique_clicked_count": ("unique_clicks",),
    "unsubscribed_count": ("unsubscribes",),
    "complained_count": ("complaints",),
    "failed_count": ("hard_bounces", "soft_bounces", "failed", "expired", "suppressed"),
    "permanent_failed_count": ("hard_bounces", "soft_bounces", "failed", "expired", "suppressed"),
    "bounced_count": ("hard_bounces", "soft_bounces"),
    "hard_bounces_count": ("hard_bounces",),
    "soft_bounces_count": ("soft_bounces",),
}
"""The counts of ours that each count of Mailgun's is the sum of."""
_RATES: Mapping[str, str] = {
    "delivered_rate": "delivered_count",
    "opened_rate": "opened_count",
    "unique_opened_rate": "unique_opened_count",
    "clicked_rate": "clicked_count",
    "unique_clicked_rate": "unique_clicked_count",
    "unsubscribed_rate": "unsubscribed_count",
    "complained_rate": "complained_count",
    "bounce_rate": "bounced_count",
}
"""The count that each rate is the part of."""
EVERY_METRIC = (*_SUMS, *_RATES)
_Counts = dict[str, int]


class MetricValue(StrictRequestModel):
    """A value of a filter; `label` is for people."""

    label: StorableText | None = None
    value: StorableText


class MetricPredicate(StrictRequestModel):
    """A condition of a filter."""

    attribute: StorableText
    comparator: Literal["="]
    values: list[MetricValue] = Field(min_length=1, max_length=1)


class MetricFilter(StrictRequestModel):
    """Conditions, all of which hold."""

    AND: list[MetricPredicate] = Field(default_factory=list, max_length=10)


class MetricPage(StrictRequestModel):
    """The part of the items that is shown, and their order: `time:asc` or `time:desc`."""

    sort: StorableText | None = None
    skip: int = Field(default=0, ge=0, le=1_000_000)
    limit: int = Field(default=MAX_ITEMS, ge=1, le=MAX_ITEMS)
    total: int | None = None


class MetricQuery(StrictRequestModel):
    """The body of POST /v1/analytics/metrics; `include_subaccounts` has no effect."""

    start: StorableText | None = None
    end: StorableText | None = None
    resolution: StorableText | None = None
    duration: StorableText | None = None
    dimensions: list[StorableText] = Field(default_factory=list, max_length=2)
    metrics: list[StorableText] = Field(min_length=1, max_length=50)
    filter: MetricFilter = MetricFilter()
    include_subaccounts: bool = False
    include_aggregates: bool = False
    pagination: MetricPage = MetricPage()


async def metrics(call: RequestContext) -> Response:
    """Return metrics in each span of a time, and for each value of a dimension."""
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        body = validated(MetricQuery, document, call.values)
    except ValidationError as exc:
        wrong = invalid_request(exc)
        if isinstance(wrong, InvalidField):
            raise NamedParameter(wrong.field, wrong.why) from None
        raise wrong from None
    dimension, is_by_time = _checked(body)
    scope = await _scope(call, body, dimension)
    given = {name: getattr(body, name) for name in ("start", "end", "resolution", "duration")}
    async with call.reports() as conn:
        asked = counted_time(given, now=await current_time(conn))
        starts = await starts_of(conn, asked)
        parts: Starts = starts if is_by_time else [starts[0], starts[-1]]
        if dimension is None:
            rows = await rows_of(conn, scope, parts)
        else:
            rows = await _rows_by_value(conn, scope, dimension, parts)
        whole = await rows_of(conn, scope, [starts[0], starts[-1]])
    found = _items(parts, rows, body)
    page = body.pagination
    answer = {
        "start": _stamp(starts[0]),
        "end": _stamp(starts[-1]),
        "resolution": asked.bucket.value,
        "duration": body.duration or "",
        "dimensions": body.dimensions,
        "pagination": {
            "sort": page.sort or f"{TIME}:asc",
            "skip": page.skip,
            "limit": page.limit,
            "total": len(found),
        },
        "items": found[page.skip : page.skip + page.limit],
    }
    if body.include_aggregates:
        answer["aggregates"] = {"metrics": shown_counts(whole, body.metrics)}
    return json_answer(answer)


async def _rows_by_value(
    conn: Conn, scope: StatsScope, dimension: Dimension, parts: Starts
) -> list[CountsRow]:
    """Return the counts of each value of a dimension.

    Raises:
        NamedParameter: there are too many.
    """
    if len(parts) - 1 > MAX_SPANS_BY_VALUE:
        why = f"at most {MAX_SPANS_BY_VALUE} spans with a dimension: use a longer one"
        raise NamedParameter("resolution", why)
    try:
        async with conn.transaction(), spans.reading(conn, LONGEST_READING):
            return await rows_by_value(conn, scope, dimension, parts)
    except InvalidField as exc:
        raise NamedParameter("start", exc.why) from None


def _checked(body: MetricQuery) -> tuple[Dimension | None, bool]:
    """Return the dimension besides the time, and whether there is the time.

    Raises:
        NamedParameter: a name is not known, or two dimensions are given.
    """
    for name in body.metrics:
        if name not in _SUMS and name not in _RATES:
            raise NamedParameter("metrics", f"{name[:100]!r} is not supported or not known")
    others = [name for name in body.dimensions if name != TIME]
    for name in others:
        if name not in _DIMENSIONS:
            raise NamedParameter("dimensions", f"{name[:100]!r} is not supported or not known")
    if len(others) > 1:
        raise NamedParameter("dimensions", f"one besides {TIME} may be given")
    if body.pagination.sort not in (None, f"{TIME}:asc", f"{TIME}:desc"):
        raise NamedParameter("pagination.sort", f"must be {TIME}:asc or {TIME}:desc")
    return (_DIMENSIONS[others[0]] if others else None), TIME in body.dimensions


async def _scope(
    call: RequestContext, body: MetricQuery, dimension: Dimension | None
) -> StatsScope:
    """Return whose mail is counted.

    Raises:
        DomainNotFound: the filter names a domain that is not the project's.
        NamedParameter: a filter is not supported.
    """
    project_id, is_test = call.caller.project_id, call.caller.is_test
    filtered: tuple[Dimension, str] | None = None
    for one in body.filter.AND:
        value = one.values[0].value
        if one.attribute == "domain":
            await check_name(call, value)
        elif one.attribute in _DIMENSIONS and filtered is None and dimension is None:
            filtered = _DIMENSIONS[one.attribute], value
        else:
            why = f"{one.attribute[:100]!r} is not supported here: counts are of one dimension"
            raise NamedParameter("filter", why)
    if filtered is None:
        return StatsScope(project_id, is_test)
    return StatsScope(project_id, is_test, *filtered)


def _items(starts: Starts, rows: Sequence[CountsRow], body: MetricQuery) -> list[dict[str, Any]]:
    """Return the items in their order; without a dimension also spans without counts. Pure."""
    others = [name for name in body.dimensions if name != TIME]
    grouped: dict[tuple[int, str], list[CountsRow]] = {}
    if not others:
        grouped = {(n, ""): [] for n in range(1, len(starts))}
    for row in rows:
        grouped.setdefault((row.n, row.value if others else ""), []).append(row)
    is_newest_first = body.pagination.sort == f"{TIME}:desc"
    order = sorted(grouped, key=lambda at: (-at[0] if is_newest_first else at[0], at[1]))
    named: Mapping[str, Callable[[int, str], str]] = {
        name: (lambda n, _: _stamp(starts[n - 1])) if name == TIME else (lambda _, v: v or "other")
        for name in body.dimensions
    }
    items = []
    for n, value in order:
        dimensions = [
            {"dimension": name, "value": of(n, value), "display_value": of(n, value)}
            for name, of in named.items()
        ]
        counts = shown_counts(grouped[n, value], body.metrics)
        items.append({"dimensions": dimensions, "metrics": counts})
    return items


def shown_counts(rows: Sequence[CountsRow], names: Sequence[str]) -> dict[str, Any]:
    """Return metrics of counts by name. Pure."""
    return _shown(_sum(rows), names)


def _sum(rows: Sequence[CountsRow]) -> _Counts:
    return {name: sum(getattr(row, name) for row in rows) for name in COUNTS}


def _shown(counts: _Counts, names: Sequence[str]) -> dict[str, Any]:
    """Return metrics by name; rates are texts, as at Mailgun. Pure."""
    found: dict[str, Any] = {}
    for name in names:
        total = sum(counts[one] for one in _SUMS[_RATES.get(name, name)])
        if name in _RATES:
            found[name] = f"{total / counts['sent'] if counts['sent'] else 0:.4f}"
        else:
            found[name] = total
    return found


def _stamp(start: SpanStart) -> str:
    return format_datetime(start.started_at.astimezone(UTC))


METRIC_ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/analytics/metrics",
        Scope.ANALYTICS_READ,
        "Show metrics by time and dimension.",
        metrics,
        test_keys=ForTestKeys.OWN,
    ),
)
