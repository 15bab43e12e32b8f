"""The analytics of a project: rates and counts over time, templates, providers, and hours."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.analytics.model import StatsScope, TimeSpan
from mailqueue.analytics.overview import overview
from mailqueue.analytics.providers import providers
from mailqueue.analytics.series import heatmap, timeseries
from mailqueue.analytics.spans import reading
from mailqueue.analytics.templates import templates
from mailqueue.console.analytics import filters, shown
from mailqueue.console.analytics.filters import AnalyticsForm, check_points, read_form, time_of
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.counts import METRICS
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn

PATH = "/console/projects/{project}/analytics"
TABS = (
    ("", "Overview"),
    ("templates", "Templates"),
    ("providers", "Providers"),
    ("hours", "Hours of the week"),
)
MAX_ROWS = 100
"""Templates and sender accounts that are shown."""
MAX_HEATMAP = timedelta(days=200)
"""Time whose hours are summed up: beyond, there are too many spans."""
MAX_READING = timedelta(seconds=5)
"""Time that each statement of a page may take: a page that takes longer says so."""
FiguresReader = Callable[[Conn, AnalyticsForm, StatsScope, TimeSpan], Awaitable[dict[str, Any]]]


async def read_overview(
    conn: Conn, form: AnalyticsForm, scope: StatsScope, span: TimeSpan
) -> dict[str, Any]:
    """Return rates and counts of the time, a chart of one count, and its groups."""
    bucket = form.bucket_of(span)
    await check_points(conn, span, bucket)
    found = await overview(conn, scope, span, compares=form.compares)
    series = await timeseries(
        conn,
        scope,
        span,
        metric=form.typed["metric"],
        bucket=bucket,
        group_by=form.group_by,
        compares=form.compares,
    )
    return {
        "as_of": found.as_of,
        "before": found.previous,
        "counts": found.current.counts,
        "rates": shown.rates_of(found),
        "all_counts": shown.counts_of(found),
        "bucket": bucket.value,
        "lines": shown.lines_of(series),
        "points": shown.points_of(series),
        "values": shown.groups_of(series, compares=form.compares) if series.group_by else [],
        "max_lines": shown.MAX_LINES,
    }


async def read_templates(
    conn: Conn, _: AnalyticsForm, scope: StatsScope, span: TimeSpan
) -> dict[str, Any]:
    """Return templates side by side, the one that was sent most first."""
    found = await templates(conn, scope, span)
    rows = found.data[:MAX_ROWS]
    return {"as_of": found.as_of, "rows": rows, "more": len(found.data) - len(rows)}


async def read_providers(
    conn: Conn, _: AnalyticsForm, scope: StatsScope, span: TimeSpan
) -> dict[str, Any]:
    """Return providers and sender accounts side by side, the one that sent most first."""
    found = await providers(conn, scope, span)
    rows = found.accounts[:MAX_ROWS]
    return {
        "as_of": found.as_of,
        "providers": found.providers,
        "accounts": rows,
        "more": len(found.accounts) - len(rows),
    }


async def read_hours(
    conn: Conn, form: AnalyticsForm, scope: StatsScope, span: TimeSpan
) -> dict[str, Any]:
    """Return one count by hour of the day and day of the week.

    Raises:
        InvalidField: the time is too long.
    """
    if span.until - span.since > MAX_HEATMAP:
        raise InvalidField("period", f"must be at most {MAX_HEATMAP.days} days for hours")
    found = await heatmap(conn, scope, span, metric=form.typed["metric"])
    return {
        "as_of": found.as_of,
        "rows": shown.hours_of(found),
        "days": [f"#{day}" for day in shown.DAYS],
        "total": sum(cell.value for cell in found.cells),
        "shades": range(shown.SHADES + 1),
    }


def _page(tab: str, read: FiguresReader) -> Callable[[PageContext], Awaitable[Response]]:
    """Return the handler of a page: `read` returns what it shows."""

    async def handler(context: PageContext) -> Response:
        form, now = read_form(context.request.query_params), datetime.now(UTC)
        span, answer = None, dict[str, Any]()
        faults = dict(form.faults)
        if not faults:
            try:
                async with context.reports() as conn, reading(conn, MAX_READING):
                    span = await time_of(conn, form, context.seen.id, now)
                    answer = await read(conn, form, StatsScope(context.seen.id, form.is_test), span)
            except InvalidField as exc:
                faults[exc.field if exc.field in filters.NAMES else "period"] = exc.why
        return context.page(
            f"analytics/{tab or 'overview'}.html",
            form=form,
            typed=form.typed,
            faults=faults,
            tab=tab,
            tabs=TABS,
            span=span,
            answer=answer,
            exported=_export_of(context, form, span),
            filters=filters,
            metrics=[(name, words) for name, words in METRICS.items()],
            shown=shown,
        )

    handler.__doc__ = read.__doc__
    return handler


def _export_of(context: PageContext, form: AnalyticsForm, span: TimeSpan | None) -> str:
    """Return the path of the form that exports the counts of a time; empty without the right."""
    if span is None or not context.may(Right.READ_MESSAGES):
        return ""
    days = (span.since.astimezone(UTC).date(), span.until.astimezone(UTC).date())
    query = {"period": "days", "since": days[0], "until": days[1], "mode": form.typed["mode"]}
    return project_path(context.seen.name, "exports", "new", kind="stats", **query)


PAGES = (
    ConsolePage(
        "GET",
        PATH,
        Right.READ,
        _page("", read_overview),
        menu=MenuEntry("Analytics", "Mail"),
    ),
    ConsolePage("GET", f"{PATH}/templates", Right.READ, _page("templates", read_templates)),
    ConsolePage("GET", f"{PATH}/providers", Right.READ, _page("providers", read_providers)),
    ConsolePage("GET", f"{PATH}/hours", Right.READ, _page("hours", read_hours)),
)
