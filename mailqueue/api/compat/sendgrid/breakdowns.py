"""SendGrid's API: counts of mail by country, device, mail client, browser and mailbox provider.

Follows twilio.com/docs/sendgrid/api-reference/advanced-stats. Opens and clicks are those by people
whose country or program is known. A mailbox provider is the domain of the recipient.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from mailqueue.analytics import spans
from mailqueue.analytics.model import CountsRow
from mailqueue.analytics.rows import rows_by_value
from mailqueue.api.compat.reading import BadParameter, query_of
from mailqueue.api.compat.seen_tags import LONGEST_READING
from mailqueue.api.compat.sendgrid.statistics import (
    SendGridDays,
    answer_by_day,
    counting_endpoint,
    days_of,
    metrics_of,
    scope_of,
)
from mailqueue.api.compat.sendgrid.suppressions import refuse_subuser
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.requests.large_bodies import in_turn
from mailqueue.contract.analytics import Bucket, Dimension
from mailqueue.core.errors import InvalidField

MAX_CHOSEN = 10
"""Most values that a request chooses, as at SendGrid."""
MAX_SPANS = 100
"""Spans where each has counts of up to 500 values."""
MANY_ROWS = 2_000
"""Counts above which a response is made in a thread, one at a time: other requests go on."""
_OPENS = ("opens", "unique_opens")
_CLICKS = ("clicks", "unique_clicks")
_Value = Annotated[StorableText, Field(min_length=1, max_length=253)]
_Values = Annotated[list[_Value], Field(max_length=MAX_CHOSEN)]


class SendGridCountryDays(SendGridDays):
    """The query of counts by country; `country` chooses one, by ISO 3166."""

    country: Annotated[StorableText, Field(pattern=r"^[A-Za-z]{2}$")] | None = None


class SendGridBrowserDays(SendGridDays):
    """The query of counts by browser."""

    browsers: _Values = Field(default_factory=list)


class SendGridMailboxDays(SendGridDays):
    """The query of counts by mailbox provider."""

    mailbox_providers: _Values = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What counts are shown by, and which of them are shown."""

    kind: str
    dimension: Dimension
    metrics: Sequence[str]


_COUNTRIES = Breakdown("country", Dimension.COUNTRY, (*_CLICKS, *_OPENS))
_DEVICES = Breakdown("device", Dimension.DEVICE, _OPENS)
_PROGRAMS = Breakdown("client", Dimension.CLIENT, _OPENS)
_BROWSERS = Breakdown("browser", Dimension.CLIENT, _CLICKS)
_MAILBOXES = Breakdown(
    "mailbox_provider",
    Dimension.DOMAIN,
    ("processed", "delivered", "bounces", "blocks", "spam_reports", *_OPENS, *_CLICKS),
)


async def by_country(call: RequestContext) -> Response:
    """Return opens and clicks by country."""
    query = query_of(call, SendGridCountryDays)
    return await _counted(call, query, _COUNTRIES, [query.country.upper()] if query.country else ())


async def by_device(call: RequestContext) -> Response:
    """Return opens by kind of device."""
    return await _counted(call, query_of(call, SendGridDays), _DEVICES)


async def by_program(call: RequestContext) -> Response:
    """Return opens by mail client."""
    return await _counted(call, query_of(call, SendGridDays), _PROGRAMS)


async def by_browser(call: RequestContext) -> Response:
    """Return clicks by browser."""
    query = query_of(call, SendGridBrowserDays, lists=("browsers",))
    return await _counted(call, query, _BROWSERS, query.browsers)


async def by_mailbox_provider(call: RequestContext) -> Response:
    """Return counts by domain of the recipient."""
    query = query_of(call, SendGridMailboxDays, lists=("mailbox_providers",))
    return await _counted(call, query, _MAILBOXES, query.mailbox_providers)


async def _counted(
    call: RequestContext, query: SendGridDays, one: Breakdown, chosen: Sequence[str] = ()
) -> Response:
    """Return the counts of each day; of values that are chosen, also where there are none.

    Raises:
        BadParameter: the days are invalid or too many, or take too long to read.
    """
    refuse_subuser(call.request)
    async with call.reports() as conn, conn.transaction():
        starts = await days_of(call, conn, query, Bucket(query.aggregated_by))
        if len(starts) - 1 > MAX_SPANS:
            raise BadParameter("start_date", f"at most {MAX_SPANS} days: use week or month")
        try:
            async with spans.reading(conn, LONGEST_READING):
                rows = await rows_by_value(conn, scope_of(call), one.dimension, starts)
        except InvalidField as exc:
            raise BadParameter("start_date", exc.why) from None

    def answer() -> Response:
        found: dict[int, dict[str, list[CountsRow]]] = {}
        for row in rows:
            if row.value:  # "" sums up those that have no counts of their own
                found.setdefault(row.n, {}).setdefault(row.value, []).append(row)
        return answer_by_day(query, starts, lambda n: _stats(one, found.get(n, {}), chosen))

    return await in_turn(call.request, answer, is_large=len(rows) > MANY_ROWS)


def _stats(
    one: Breakdown, found: Mapping[str, Sequence[CountsRow]], chosen: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the counts of each value that is chosen, or that has some. Pure."""
    shown = []
    for name in dict.fromkeys(chosen) if chosen else sorted(found):
        counts = metrics_of(found.get(name, ()))
        metrics = {metric: counts[metric] for metric in one.metrics}
        if chosen or any(metrics.values()):
            shown.append({"type": one.kind, "name": name, "metrics": metrics})
    return shown


BREAKDOWN_ENDPOINTS: tuple[Endpoint, ...] = (
    counting_endpoint("/v3/geo/stats", "Count opens and clicks by country.", by_country),
    counting_endpoint("/v3/devices/stats", "Count opens by device.", by_device),
    counting_endpoint("/v3/clients/stats", "Count opens by mail client.", by_program),
    counting_endpoint("/v3/browsers/stats", "Count clicks by browser.", by_browser),
    counting_endpoint(
        "/v3/mailbox_providers/stats", "Count mail by domain of the recipient.", by_mailbox_provider
    ),
)
