"""SendGrid's API: counts of mail by day, week or month, of all of it or by category.

Follows twilio.com/docs/sendgrid/api-reference/stats and .../categories. Categories are the tags of
mail. Counts are exact, by UTC, and of the day of what is counted. Opens and clicks are those by
people. Test keys see test mail.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.responses import Response

from mailqueue.analytics import spans
from mailqueue.analytics.model import CountsRow, Starts, StatsScope
from mailqueue.analytics.rows import current_time, rows_by_value, rows_of
from mailqueue.api.compat.reading import BadParameter, query_of
from mailqueue.api.compat.seen_tags import LONGEST_READING, seen_tags
from mailqueue.api.compat.sendgrid.suppressions import refuse_subuser
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.analytics import Bucket, Dimension
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope

MAX_CATEGORIES = 10
"""Most categories of one request, as at SendGrid."""
MAX_LISTED = 5_000
_DAY = timedelta(days=1)
_FIELDS = {"from": "start_date", "timezone": "start_date", "bucket": "aggregated_by"}
_Handler = Callable[[RequestContext], Awaitable[Response]]
_Date = Annotated[StorableText, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
_Category = Annotated[StorableText, Field(min_length=1, max_length=500)]
_ZEROS = ("deferred", "invalid_emails", "bounce_drops", "spam_report_drops", "unsubscribe_drops")
"""What is not counted here: mail to suppressed addresses is not split by the reason."""
_COUNTS: Mapping[str, str] = {
    "requests": "accepted",
    "delivered": "delivered",
    "bounces": "hard_bounces",
    "blocks": "soft_bounces",
    "spam_reports": "complaints",
    "unsubscribes": "unsubscribes",
    "opens": "opens",
    "unique_opens": "unique_opens",
    "clicks": "clicks",
    "unique_clicks": "unique_clicks",
}
"""Our counts by SendGrid's."""
_METRICS = ("processed", *_COUNTS, *_ZEROS)


class SendGridDays(RequestModel):
    """The query of counts."""

    start_date: _Date
    end_date: _Date | None = None
    aggregated_by: Literal["day", "week", "month"] = "day"
    limit: int = Field(default=MAX_LISTED, ge=1, le=MAX_LISTED)
    offset: int = Field(default=0, ge=0, le=MAX_LISTED)


class SendGridCategoryDays(SendGridDays):
    """The query of counts of some categories."""

    categories: Annotated[list[_Category], Field(min_length=1, max_length=MAX_CATEGORIES)]


class SendGridSums(SendGridDays):
    """The query of the counts of a time by category, the greatest first unless it is `asc`."""

    limit: int = Field(default=5, ge=1, le=MAX_LISTED)
    sort_by_metric: StorableText = "delivered"
    sort_by_direction: Literal["desc", "asc"] = "desc"


class SendGridCategoryQuery(RequestModel):
    """The query of the list of categories; `category` is their beginning."""

    category: StorableText = ""
    limit: int = Field(default=50, ge=1, le=500)
    offset: int = Field(default=0, ge=0, le=1_000_000)


async def total(call: RequestContext) -> Response:
    """Return the counts of all mail."""
    refuse_subuser(call.request)
    query = query_of(call, SendGridDays)
    async with call.reports() as conn:
        starts = await days_of(call, conn, query, Bucket(query.aggregated_by))
        found = _by_span(await rows_of(conn, scope_of(call), starts))
    return answer_by_day(query, starts, lambda n: [{"metrics": found.get(n) or metrics_of(())}])


async def of_categories(call: RequestContext) -> Response:
    """Return the counts of some categories."""
    refuse_subuser(call.request)
    query = query_of(call, SendGridCategoryDays, lists=("categories",))
    names = list(dict.fromkeys(query.categories))
    async with call.reports() as conn:
        starts = await days_of(call, conn, query, Bucket(query.aggregated_by))
        found = {
            name: _by_span(await rows_of(conn, scope_of(call, name), starts)) for name in names
        }

    def stats(n: int) -> list[dict[str, Any]]:
        return [_of_category(name, found[name].get(n) or metrics_of(())) for name in names]

    return answer_by_day(query, starts, stats)


async def sums(call: RequestContext) -> Response:
    """Return the counts of a time by category."""
    refuse_subuser(call.request)
    query = query_of(call, SendGridSums)
    if query.sort_by_metric not in _METRICS:
        raise BadParameter("sort_by_metric", f"must be one of {', '.join(_METRICS)}")
    async with call.reports() as conn, conn.transaction(), spans.reading(conn, LONGEST_READING):
        starts = await days_of(call, conn, query, Bucket.DAY)
        ends = [starts[0], starts[-1]]
        rows = await rows_by_value(conn, scope_of(call), Dimension.TAG, ends)
    by_name: dict[str, list[CountsRow]] = {}
    for row in rows:
        if row.value:  # "" sums up those that have no counts of their own
            by_name.setdefault(row.value, []).append(row)
    found = [_of_category(name, metrics_of(own)) for name, own in sorted(by_name.items())]
    is_falling = query.sort_by_direction == "desc"
    found.sort(key=lambda one: one["metrics"][query.sort_by_metric], reverse=is_falling)
    page = found[query.offset : query.offset + query.limit]
    return json_answer({"date": starts[0].local_at.date().isoformat(), "stats": page})


async def categories(call: RequestContext) -> Response:
    """List the categories of mail that was counted in the last 90 days, by name."""
    refuse_subuser(call.request)
    query = query_of(call, SendGridCategoryQuery)
    found = [one.tag for one in await seen_tags(call) if one.tag.startswith(query.category)]
    page = found[query.offset : query.offset + query.limit]
    return json_answer([{"category": name} for name in page])


def metrics_of(rows: Sequence[CountsRow]) -> dict[str, int]:
    """Return counts in SendGrid's words. Pure."""
    found = {name: sum(getattr(row, own) for row in rows) for name, own in _COUNTS.items()}
    processed = sum(row.sent + row.failed + row.expired for row in rows)
    return {"processed": processed, **found, **dict.fromkeys(_ZEROS, 0)}


def _of_category(name: str, metrics: Mapping[str, int]) -> dict[str, Any]:
    return {"type": "category", "name": name, "metrics": metrics}


def _by_span(rows: Sequence[CountsRow]) -> dict[int, dict[str, int]]:
    found: dict[int, list[CountsRow]] = {}
    for row in rows:
        found.setdefault(row.n, []).append(row)
    return {n: metrics_of(own) for n, own in found.items()}


def answer_by_day(
    query: SendGridDays, starts: Starts, stats_of: Callable[[int], list[dict[str, Any]]]
) -> Response:
    """Return the response with what `stats_of` returns for the number of each span, from 1 on."""
    numbers = range(1, len(starts))[query.offset : query.offset + query.limit]
    return json_answer(
        [{"date": starts[n - 1].local_at.date().isoformat(), "stats": stats_of(n)} for n in numbers]
    )


def scope_of(call: RequestContext, category: str | None = None) -> StatsScope:
    """Return whose mail is counted: that of the key's mode, or of a category of it."""
    dimension = None if category is None else Dimension.TAG
    return StatsScope(call.caller.project_id, call.caller.is_test, dimension, category)


async def days_of(call: RequestContext, conn: Conn, query: SendGridDays, bucket: Bucket) -> Starts:
    """Return the spans that are counted, the last day included.

    Raises:
        BadParameter: there are none, or too many.
    """
    since = _day("start_date", query.start_date)
    until = None if query.end_date is None else _day("end_date", query.end_date)
    try:
        now = await current_time(conn)
        end = max(now, since + _DAY) if until is None else until + _DAY
        span = await spans.requested_span(
            conn, since, end, "UTC", project_id=call.caller.project_id
        )
        return await spans.whole(conn, span, bucket)
    except (InvalidField, OverflowError) as exc:
        why = exc.why if isinstance(exc, InvalidField) else "is too late"
        field = (
            _FIELDS.get(exc.field, "start_date") if isinstance(exc, InvalidField) else "end_date"
        )
        raise BadParameter(field, why.replace("`to`", "`end_date`")) from None


def _day(name: str, given: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(given), time(), UTC)
    except ValueError:
        raise BadParameter(name, f"{given!r} is not a day") from None


def counting_endpoint(path: str, summary: str, handler: _Handler) -> Endpoint:
    """Return an endpoint of counts; test keys see those of test mail."""
    return Endpoint("GET", path, Scope.ANALYTICS_READ, summary, handler, test_keys=ForTestKeys.OWN)


STATISTICS_ENDPOINTS = (
    counting_endpoint("/v3/stats", "Count mail by day, week or month.", total),
    counting_endpoint("/v3/categories", "List categories.", categories),
    counting_endpoint("/v3/categories/stats", "Count mail of categories.", of_categories),
    counting_endpoint("/v3/categories/stats/sums", "Count mail of a time by category.", sums),
)
