"""Postmark's API: statistics of sent mail, by day of Eastern Time.

Follows postmarkapp.com/developer/api/stats-api. Counts are exact, by the day of what is counted: an
open counts on the day of the open. Opens and clicks are those by people. Test tokens see test mail.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

from starlette.responses import Response

from mailqueue.analytics import spans
from mailqueue.analytics.model import CountsRow, Starts, StatsScope, TimeSpan
from mailqueue.analytics.rows import current_time, rows_by_value, rows_of
from mailqueue.api.compat.postmark.suppressions import category_of_stream
from mailqueue.api.compat.postmark.times import EASTERN, QueryTime, last_of
from mailqueue.api.compat.reading import BadParameter, query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.analytics import Bucket, Dimension
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope

ALL_TIME = spans.MAX_TIME - timedelta(days=1)
"""The time that is counted where no day is given."""
_DAY = timedelta(days=1)
_MOMENT = timedelta(microseconds=1)
_Handler = Callable[[RequestContext], Awaitable[Response]]
_PLATFORMS = {"desktop": "Desktop", "phone": "Mobile", "tablet": "Mobile"}
_FIELDS = {"from": "fromdate", "timezone": "fromdate", "bucket": "fromdate"}


class PostmarkVisitDays(RequestModel):
    """The query of counts by client or platform, which are of all mail."""

    fromdate: QueryTime | None = None
    todate: QueryTime | None = None


class PostmarkDays(PostmarkVisitDays):
    """The query of statistics: of all mail, or of that with a tag, or of a stream."""

    tag: StorableText | None = None
    messagestream: StorableText | None = None


async def overview(call: RequestContext) -> Response:
    """Return the counts of a time, and their rates in percent."""
    query = query_of(call, PostmarkDays)
    async with call.reports() as conn:
        span = await _span(call, conn, query)
        starts = await spans.whole(conn, span, Bucket.DAY)
        ends = [starts[0], starts[-1]]
        rows = await rows_of(conn, _scope(call, query), ends)
    total = {name: sum(getattr(row, name) for row in rows) for name in _COUNTED}
    bounced = total["hard_bounces"] + total["soft_bounces"]
    return json_answer(
        {
            "Sent": total["sent"],
            "Bounced": bounced,
            "SMTPApiErrors": 0,
            "BounceRate": _percent(bounced, total["sent"]),
            "SpamComplaints": total["complaints"],
            "SpamComplaintsRate": _percent(total["complaints"], total["sent"]),
            "Opens": total["opens"],
            "UniqueOpens": total["unique_opens"],
            "TotalClicks": total["clicks"],
            "UniqueLinksClicked": total["unique_clicks"],
        }
    )


_COUNTED = (
    *("sent", "hard_bounces", "soft_bounces", "complaints"),
    *("opens", "unique_opens", "clicks", "unique_clicks"),
)


def counting(names: Mapping[str, str]) -> _Handler:
    """Return the handler of counts by day; `names` are ours by Postmark's."""

    async def counts(call: RequestContext) -> Response:
        query = query_of(call, PostmarkDays)
        async with call.reports() as conn:
            starts = await spans.whole(conn, await _span(call, conn, query), Bucket.DAY)
            rows = await rows_of(conn, _scope(call, query), starts)
        days: dict[int, dict[str, int]] = {}
        for row in rows:
            day = days.setdefault(row.n, dict.fromkeys(names, 0))
            for shown, name in names.items():
                day[shown] += getattr(row, name)
        return json_answer(_by_day(starts, days, names))

    return counts


def grouping(
    metric: str, dimension: Dimension, name_of: Callable[[str], str], *, known: tuple[str, ...] = ()
) -> _Handler:
    """Return the handler of a count by day and what it was done with, such as the client."""

    async def counts(call: RequestContext) -> Response:
        query = query_of(call, PostmarkVisitDays)
        scope = StatsScope(call.caller.project_id, call.caller.is_test)
        async with call.reports() as conn:
            starts = await spans.whole(conn, await _span(call, conn, query), Bucket.DAY)
            rows = await rows_by_value(conn, scope, dimension, starts)
            total = await rows_of(conn, scope, starts)
        days: dict[int, dict[str, int]] = {}
        for row in rows:
            _add(days, row, name_of(row.value), metric)
        for row in total:  # what has no value of the dimension
            named = sum(days.get(row.n, {}).values())
            if missing := getattr(row, metric) - named:
                days.setdefault(row.n, {})["Unknown"] = (
                    days.get(row.n, {}).get("Unknown", 0) + missing
                )
        return json_answer(_by_day(starts, days, known))

    return counts


def _add(days: dict[int, dict[str, int]], row: CountsRow, name: str, metric: str) -> None:
    count = getattr(row, metric)
    if count:
        day = days.setdefault(row.n, {})
        day[name] = day.get(name, 0) + count


def _by_day(
    starts: Starts,
    days: Mapping[int, Mapping[str, int]],
    names: Mapping[str, str] | tuple[str, ...],
) -> dict[str, Any]:
    """Return days that have a count, and the sum of each. Pure."""
    total = dict.fromkeys(names, 0)
    shown = []
    for n in sorted(days):
        counts = {**dict.fromkeys(names, 0), **days[n]}
        if not any(counts.values()):
            continue
        shown.append({"Date": starts[n - 1].local_at.date().isoformat(), **counts})
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
    return {"Days": shown, **total}


async def locations(call: RequestContext) -> Response:
    """Return clicks by the part of the message: links in text are not tracked."""
    query = query_of(call, PostmarkVisitDays)
    scope = StatsScope(call.caller.project_id, call.caller.is_test)
    async with call.reports() as conn:
        starts = await spans.whole(conn, await _span(call, conn, query), Bucket.DAY)
        rows = await rows_of(conn, scope, starts)
    days: dict[int, dict[str, int]] = {}
    for row in rows:
        _add(days, row, "HTML", "clicks")
    return json_answer(_by_day(starts, days, ("HTML", "Text")))


def _scope(call: RequestContext, query: PostmarkDays) -> StatsScope:
    """Return whose mail is counted.

    Raises:
        BadParameter: a tag and a stream are given: counts are of one of them.
    """
    project_id, is_test = call.caller.project_id, call.caller.is_test
    if query.messagestream is None:
        dimension = None if query.tag is None else Dimension.TAG
        return StatsScope(project_id, is_test, dimension, query.tag)
    if query.tag is not None:
        raise BadParameter("messagestream", "give 'tag' or 'messagestream', not both")
    category = category_of_stream(query.messagestream)
    return StatsScope(project_id, is_test, Dimension.CATEGORY, category)


async def _span(call: RequestContext, conn: Conn, query: PostmarkVisitDays) -> TimeSpan:
    """Return the days that are counted, the last included.

    Raises:
        BadParameter: there are none, or too many.
    """
    since = None if query.fromdate is None else query.fromdate.at
    try:
        until = None if query.todate is None else last_of(query.todate) + _MOMENT
        now = await current_time(conn)
        if until is None:
            until = now if since is None else max(now, since + _DAY)
        since = since or until - ALL_TIME
        return await spans.requested_span(
            conn, since, until, str(EASTERN), project_id=call.caller.project_id
        )
    except (InvalidField, OverflowError) as exc:
        why = exc.why if isinstance(exc, InvalidField) else "is too early, or 'todate' too late"
        why = why.replace("`to`", "'todate'")
        raise BadParameter("fromdate", why) from None


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 3) if whole else 0.0


def _platform(value: str) -> str:
    return _PLATFORMS.get(value, "Unknown")


def _client(value: str) -> str:
    return value if value and value != "other" else "Unknown"


def _reading(path: str, summary: str, handler: _Handler) -> Endpoint:
    return Endpoint("GET", path, Scope.ANALYTICS_READ, summary, handler, test_keys=ForTestKeys.OWN)


_PATH = "/stats/outbound"
_PLATFORM_NAMES = ("Desktop", "Mobile", "Unknown", "WebMail")
STATISTICS_ENDPOINTS = (
    _reading(_PATH, "Show counts and rates.", overview),
    _reading(f"{_PATH}/sends", "Count sent messages by day.", counting({"Sent": "sent"})),
    _reading(
        f"{_PATH}/bounces",
        "Count bounces by day.",
        counting({"HardBounce": "hard_bounces", "SoftBounce": "soft_bounces"}),
    ),
    _reading(
        f"{_PATH}/spam", "Count complaints by day.", counting({"SpamComplaint": "complaints"})
    ),
    _reading(
        f"{_PATH}/opens",
        "Count opens by day.",
        counting({"Opens": "opens", "Unique": "unique_opens"}),
    ),
    _reading(
        f"{_PATH}/opens/platforms",
        "Count opens by platform.",
        grouping("opens", Dimension.DEVICE, _platform, known=_PLATFORM_NAMES),
    ),
    _reading(
        f"{_PATH}/opens/emailclients",
        "Count opens by client.",
        grouping("opens", Dimension.CLIENT, _client),
    ),
    _reading(
        f"{_PATH}/clicks",
        "Count clicks by day.",
        counting({"Clicks": "clicks", "Unique": "unique_clicks"}),
    ),
    _reading(
        f"{_PATH}/clicks/browserfamilies",
        "Count clicks by browser.",
        grouping("clicks", Dimension.CLIENT, _client),
    ),
    _reading(
        f"{_PATH}/clicks/platforms",
        "Count clicks by platform.",
        grouping("clicks", Dimension.DEVICE, _platform, known=_PLATFORM_NAMES),
    ),
    _reading(f"{_PATH}/clicks/location", "Count clicks by part of the message.", locations),
)
