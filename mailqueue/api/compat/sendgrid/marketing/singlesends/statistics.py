"""SendGrid's API: what became of the mail of single sends.

Follows twilio.com/docs/sendgrid/api-reference/marketing-campaign-stats. Opens and clicks are those
by people, and bounces are hard ones. Mail to suppressed addresses is in `requests` alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from pydantic import BeforeValidator, Field
from starlette.responses import Response

from mailqueue.analytics import spans
from mailqueue.api.compat.broadcasts.outcomes import ClickedLink
from mailqueue.api.compat.broadcasts.store import SoughtBroadcasts
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.seen_tags import LONGEST_READING
from mailqueue.api.compat.sendgrid.marketing.singlesends.endpoints import (
    page_of,
    single_send_endpoint,
    single_send_of,
)
from mailqueue.api.compat.sendgrid.marketing.singlesends.model import SingleSendsQuery
from mailqueue.api.compat.sendgrid.suppressions import refuse_subuser
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import many
from mailqueue.db.sql import ManyRows
from mailqueue.db.statements import broadcasts as sql

MAX_IDS = 25
MAX_PAGE = 50
MAX_LINKS = 1_000
_NEVER = {"bounce_drops": 0, "invalid_emails": 0, "spam_report_drops": 0}
_WHOLE = {"ab_variation": "all", "ab_phase": "all"}
_PATH = "/v3/marketing/stats/singlesends"
Row = TypeVar("Row")


def _split(text: Any) -> Any:
    return text.split(",") if isinstance(text, str) else text


_Ids = Annotated[list[UUID], BeforeValidator(_split), Field(min_length=1, max_length=MAX_IDS)]


class SingleSendsStatsQuery(SingleSendsQuery):
    """The query of GET /v3/marketing/stats/singlesends."""

    singlesend_ids: _Ids | None = None
    page_size: int = Field(default=25, ge=1, le=MAX_PAGE)


class SingleSendStatsQuery(SingleSendsQuery):
    """The query of GET /v3/marketing/stats/singlesends/{broadcast_id}: all of the time in one."""

    aggregated_by: Literal["total"] | None = None
    timezone: Literal["UTC"] | None = None
    page_size: int = Field(default=25, ge=1, le=MAX_PAGE)


class SingleSendLinksQuery(SingleSendsQuery):
    """The query of GET /v3/marketing/stats/singlesends/{broadcast_id}/links."""

    ab_phase_id: Literal["all"] | None = None
    page_size: int = Field(default=25, ge=1, le=MAX_PAGE)


@dataclass(frozen=True, slots=True)
class BroadcastCounts:
    """How much mail a broadcast has, and what happened to it."""

    id: UUID
    requests: int
    delivered: int
    bounces: int
    opens: int
    unique_opens: int
    clicks: int
    unique_clicks: int
    spam_reports: int
    unsubscribes: int

    def shown(self) -> dict[str, Any]:
        """Return them as SendGrid shows them."""
        counts = {name: value for name, value in asdict(self).items() if name != "id"}
        return {"id": self.id, **_WHOLE, "aggregation": "total", "stats": {**counts, **_NEVER}}


async def index(call: RequestContext) -> Response:
    """Count the mail of single sends, the newest first."""
    refuse_subuser(call.request)
    query = query_of(call, SingleSendsStatsQuery)
    sought = SoughtBroadcasts(among=query.singlesend_ids)
    page, links = await page_of(call, sought, query, _PATH)
    counts = await _counts(call, [one.id for one in page])
    return json_answer({"results": [one.shown() for one in counts], "_metadata": links})


async def show(call: RequestContext) -> Response:
    """Count the mail of a single send."""
    refuse_subuser(call.request)
    one = await single_send_of(call)
    query = query_of(call, SingleSendStatsQuery)
    sought = SoughtBroadcasts(among=[one.id])
    _, links = await page_of(call, sought, query, f"{_PATH}/{one.id}")
    counts = await _counts(call, [one.id])
    return json_answer({"results": [each.shown() for each in counts], "_metadata": links})


async def links(call: RequestContext) -> Response:
    """Count the clicks of the links of a single send, the most clicked first."""
    refuse_subuser(call.request)
    one = await single_send_of(call)
    query = query_of(call, SingleSendLinksQuery)
    asked = {"id": one.id, "limit": MAX_LINKS}
    found = await _read(call, sql.LIST_BROADCAST_LINKS, asked, ClickedLink)
    ids = [each.id for each in found]
    start = 0
    if query.page_token is not None:
        if query.page_token not in ids:
            raise InvalidField("page_token", "there is no such page")
        start = ids.index(query.page_token) + 1
    page = found[start : start + query.page_size]
    url = origin_of(call.request.scope, call.settings.tracking.public_url)
    url += f"{_PATH}/{one.id}/links"
    metadata: dict[str, Any] = {"self": url, "count": len(found)}
    if page and page[-1].id != ids[-1]:
        metadata["next"] = f"{url}?page_size={query.page_size}&page_token={page[-1].id}"
    return json_answer(
        {
            "results": [{"url": each.url, **_WHOLE, "clicks": each.clicks} for each in page],
            "total_clicks": sum(each.clicks for each in found),
            "_metadata": metadata,
        }
    )


async def _counts(call: RequestContext, ids: Sequence[UUID]) -> list[BroadcastCounts]:
    return await _read(call, sql.COUNT_BROADCASTS, {"ids": list(ids)}, BroadcastCounts)


async def _read(
    call: RequestContext, statement: ManyRows, more: Mapping[str, Any], row: type[Row]
) -> list[Row]:
    """Return rows of a query over the mail of single sends.

    Raises:
        InvalidField: there is too much mail to read it in time.
    """
    asked = {"project_id": call.caller.project_id, **more}
    async with call.reports() as conn:
        try:
            async with conn.transaction(), spans.reading(conn, LONGEST_READING):
                return await many(conn, statement, asked, row)
        except InvalidField:
            why = "there is too much mail to count it: ask for fewer"
            raise InvalidField("page_size", why) from None


_ONE = f"{_PATH}/{{broadcast_id}}"
SINGLE_SEND_STATS_ENDPOINTS = (
    single_send_endpoint("GET", _PATH, "Count the mail of single sends.", index),
    single_send_endpoint("GET", _ONE, "Count the mail of a single send.", show),
    single_send_endpoint("GET", f"{_ONE}/links", "Count clicks of a single send's links.", links),
)
