"""Mailgun's API: counts of a domain by hour, day or month, which are those of the project here.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/stats. Counts are exact,
in UTC, and the same for each domain. Opens and clicks are those by people. Test keys see test mail.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from starlette.responses import Response

from mailqueue.analytics.model import CountsRow, Starts, StatsScope
from mailqueue.analytics.rows import current_time, rows_of
from mailqueue.api.compat.mailgun.address_lists import stamp
from mailqueue.api.compat.mailgun.counts.times import counted_time, starts_of
from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import MissingParameter, NamedParameter
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.contract.analytics import Dimension
from mailqueue.core.storable_text import unstorable
from mailqueue.projects.model import Scope

_Handler = Callable[[RequestContext], Awaitable[Response]]
_TIMES = ("start", "end", "resolution", "duration")
_FAILED = ("hard_bounces", "soft_bounces", "failed", "expired", "suppressed")


def _failed(one: Mapping[str, int]) -> dict[str, Any]:
    bounced = one["hard_bounces"] + one["soft_bounces"]
    total = sum(one[name] for name in _FAILED)
    return {"permanent": {"bounce": bounced, "total": total}}


EVENTS: Mapping[str, Callable[[Mapping[str, int]], dict[str, Any]]] = {
    "accepted": lambda one: {
        "incoming": 0,
        "outgoing": one["accepted"],
        "total": one["accepted"],
    },
    "delivered": lambda one: {"total": one["delivered"]},
    "failed": _failed,
    "opened": lambda one: {"total": one["opens"], "unique": one["unique_opens"]},
    "clicked": lambda one: {"total": one["clicks"], "unique": one["unique_clicks"]},
    "unsubscribed": lambda one: {"total": one["unsubscribes"]},
    "complained": lambda one: {"total": one["complaints"]},
}
"""What is shown of the counts for each event of Mailgun."""
_COUNTS = (
    *("accepted", "delivered", *_FAILED, "opens", "unique_opens", "clicks", "unique_clicks"),
    *("unsubscribes", "complaints"),
)


async def total(call: RequestContext) -> Response:
    """Return the counts of all mail."""
    await check_domain(call)
    _check_query(call, (*_TIMES, "event"))
    return json_answer(await _counted(call))


async def of_tag(call: RequestContext) -> Response:
    """Return the counts of mail with the tag in the path."""
    await check_domain(call)
    _check_query(call, (*_TIMES, "event"))
    return json_answer(await _counted(call, call.path["tag"]))


async def of_named_tag(call: RequestContext) -> Response:
    """Return the counts of mail with the tag in the query."""
    await check_domain(call)
    _check_query(call, (*_TIMES, "event", "tag"))
    tag = call.request.query_params.get("tag")
    if not tag:
        raise MissingParameter("tag")
    return json_answer(await _counted(call, tag))


async def _counted(call: RequestContext, tag: str | None = None) -> dict[str, Any]:
    events = call.request.query_params.getlist("event") or list(EVENTS)
    for event in events:
        if event not in EVENTS:
            raise NamedParameter("event", f"{event[:100]!r} is not one of {', '.join(EVENTS)}")
    dimension = None if tag is None else Dimension.TAG
    scope = StatsScope(call.caller.project_id, call.caller.is_test, dimension, tag)
    given = {name: call.request.query_params.get(name) for name in _TIMES}
    async with call.reports() as conn:
        asked = counted_time(given, now=await current_time(conn))
        starts = await starts_of(conn, asked)
        rows = await rows_of(conn, scope, starts)
    shown = {} if tag is None else {"tag": tag}
    return {
        **shown,
        "description": "",
        "start": stamp(starts[0].started_at),
        "end": stamp(starts[-1].started_at),
        "resolution": asked.bucket.value,
        "stats": _items(starts, rows, list(dict.fromkeys(events))),
    }


def _items(
    starts: Starts, rows: Sequence[CountsRow], events: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the counts of each span, also where there are none. Pure."""
    counts = [dict.fromkeys(_COUNTS, 0) for _ in starts[:-1]]
    for row in rows:
        for name in _COUNTS:
            counts[row.n - 1][name] += getattr(row, name)
    return [
        {"time": stamp(start.started_at), **{event: EVENTS[event](one) for event in events}}
        for start, one in zip(starts, counts, strict=False)
    ]


def _check_query(call: RequestContext, names: Sequence[str]) -> None:
    """Raise NamedParameter for a parameter that is unknown, repeated or not text.

    Raises:
        NamedParameter: for the first one.
    """
    seen: set[str] = set()
    for name, text in call.request.query_params.multi_items():
        shown = name.replace("\0", "?")[:100]
        if name not in names:
            raise NamedParameter(shown, "is not supported or not known")
        if name in seen and name != "event":
            raise NamedParameter(shown, "may be given once")
        if (fault := unstorable(shown, [name, text])) is not None:
            raise NamedParameter(fault.field, fault.why)
        seen.add(name)


def _reading(path: str, summary: str, handler: _Handler) -> Endpoint:
    return Endpoint("GET", path, Scope.ANALYTICS_READ, summary, handler, test_keys=ForTestKeys.OWN)


STATISTICS_ENDPOINTS = (
    _reading("/v3/{domain}/stats/total", "Count mail and events.", total),
    _reading("/v3/{domain}/tags/{tag}/stats", "Count mail with a tag.", of_tag),
    _reading("/v3/{domain}/tag/stats", "Count mail with a tag.", of_named_tag),
)
