"""`mailqueue stats`: counts and rates, and comparing them with history."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

import click

from mailqueue.analytics import overview as overviews
from mailqueue.analytics import providers as provider_counts
from mailqueue.analytics import series, spans
from mailqueue.analytics import templates as template_counts
from mailqueue.analytics.model import StatsScope, TimeSpan
from mailqueue.cli.analytics.printing import (
    percent,
    print_heatmap,
    print_overview,
    print_series,
)
from mailqueue.cli.analytics.upkeep import progress, rebuild, verify
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.instants import PastInstant
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.analytics import (
    AnalyticsHeatmap,
    AnalyticsOverview,
    AnalyticsProviders,
    AnalyticsTemplates,
    AnalyticsTimeseries,
    Bucket,
    Dimension,
)
from mailqueue.contract.counts import METRICS
from mailqueue.core.errors import Unavailable
from mailqueue.db.replica import open_replica
from mailqueue.projects import manage

Answer = TypeVar("Answer")


def _time_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a time, and of whose counts they are."""
    for option in (
        click.option("--timezone", help="IANA time zone; that of the project by default."),
        click.option("--to", "until", type=PastInstant(), help="End; now by default."),
        click.option("--from", "since", type=PastInstant(), help="Start, or age such as 7d; 30d."),
        click.option("--test", "is_test", is_flag=True, help="Count test mail in place of live."),
        click.option("--project", help="Project; all together by default."),
    ):
        command = option(command)
    return command


_metric = click.option(
    "--metric", type=click.Choice(list(METRICS)), default="sent", show_default=True, help="Count."
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue stats overview --project shop --from 7d",
        "mailqueue stats series --metric unique_opens --bucket day --group-by campaign",
        "mailqueue stats verify",
    ),
)
def stats() -> None:
    """Show counts and rates of mail and events, and compare them with history."""


@stats.command(epilog=examples("mailqueue stats overview --project shop --from 7d --compare"))
@_time_options
@click.option("--compare", is_flag=True, help="Show the time before too.")
@json_option
def overview(*, compare: bool, **asked: Any) -> None:
    """Show counts and rates of a time."""

    async def found(app: Opened) -> AnalyticsOverview:
        scope, span = await _asked(app, **asked)
        return await overviews.overview(app.conn, scope, span, compares=compare)

    answer = _report(found)
    print_result(answer, lambda: print_overview(answer))


@stats.command("series", epilog=examples("mailqueue stats series --bucket hour --from 1d"))
@_time_options
@_metric
@click.option(
    "--bucket",
    type=click.Choice([one.value for one in Bucket]),
    default="day",
    show_default=True,
    help="Span of each point.",
)
@click.option(
    "--group-by",
    type=click.Choice([one.value for one in Dimension]),
    help="One series for each value of this.",
)
@json_option
def series_(*, metric: str, bucket: str, group_by: str | None, **asked: Any) -> None:
    """Show a count over time."""

    async def found(app: Opened) -> AnalyticsTimeseries:
        scope, span = await _asked(app, **asked)
        return await series.timeseries(
            app.conn,
            scope,
            span,
            metric=metric,
            bucket=Bucket(bucket),
            group_by=None if group_by is None else Dimension(group_by),
        )

    answer = _report(found)
    print_result(answer, lambda: print_series(answer))


@stats.command(epilog=examples("mailqueue stats heatmap --metric opens --project shop"))
@_time_options
@_metric
@json_option
def heatmap(*, metric: str, **asked: Any) -> None:
    """Show a count by hour of the day and day of the week."""

    async def found(app: Opened) -> AnalyticsHeatmap:
        scope, span = await _asked(app, **asked)
        return await series.heatmap(app.conn, scope, span, metric=metric)

    answer = _report(found)
    print_result(answer, lambda: print_heatmap(answer))


@stats.command(epilog=examples("mailqueue stats templates --project shop"))
@_time_options
@json_option
def templates(**asked: Any) -> None:
    """Compare the templates of a project."""

    async def found(app: Opened) -> AnalyticsTemplates:
        scope, span = await _asked(app, **{**asked, "project": asked["project"] or "default"})
        return await template_counts.templates(app.conn, scope, span)

    answer = _report(found)
    print_rows(
        answer.data,
        (
            Column("slug", "TEMPLATE"),
            *_COUNTS,
            Column("open", "OPENED", numeric=True),
            Column("click", "CLICKED", numeric=True),
        ),
        document=answer,
        row=lambda one: {
            "slug": one.slug or "(other)",
            **_shown(one),
        },
        nothing="no template was used in this time",
    )


@stats.command(epilog=examples("mailqueue stats providers --from 7d"))
@_time_options
@json_option
def providers(**asked: Any) -> None:
    """Compare providers and sender accounts."""

    async def found(app: Opened) -> AnalyticsProviders:
        scope, span = await _asked(app, **asked)
        return await provider_counts.providers(app.conn, scope, span)

    answer = _report(found)
    print_rows(
        answer.accounts,
        (
            Column("provider", "PROVIDER"),
            Column("account", "ACCOUNT"),
            *_COUNTS,
            Column("p50", "P50 MS", numeric=True),
            Column("p95", "P95 MS", numeric=True),
            Column("p99", "P99 MS", numeric=True),
        ),
        document=answer,
        row=lambda one: {
            "provider": one.provider,
            "account": one.account,
            "p50": one.response_times.p50_ms,
            "p95": one.response_times.p95_ms,
            "p99": one.response_times.p99_ms,
            **_shown(one),
        },
        nothing="no account sent in this time",
    )


def _report(verb: Callable[[Opened], Awaitable[Answer]]) -> Answer:
    """Return the result of a verb that reads from the replica, if one is configured and answers.

    What the replica lacks or cannot answer, the primary does.
    """

    async def reading(app: Opened) -> Answer:
        async with open_replica(app.settings.database) as replica:
            if replica is not None:
                with suppress(Unavailable):
                    async with replica.lend(lambda: nullcontext(app.conn)) as conn:
                        return await verb(replace(app, conn=conn))
            return await verb(app)

    return execute(reading)


async def _asked(
    app: Opened,
    *,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    timezone: str | None,
    is_test: bool,
) -> tuple[StatsScope, TimeSpan]:
    project_id = None if project is None else (await manage.find(app.conn, project)).id
    scope = StatsScope(project_id, is_test)
    return scope, await spans.requested_span(
        app.conn, since, until, timezone, project_id=project_id
    )


_COUNTS = (
    Column("sent", "SENT", numeric=True),
    Column("delivery", "DELIVERED", numeric=True),
    Column("bounce", "BOUNCED", numeric=True),
    Column("complaint", "COMPLAINED", numeric=True),
)


def _shown(one: Any) -> dict[str, object]:
    return {
        "sent": one.counts.sent,
        "delivery": percent(one.rates.delivery),
        "bounce": percent(one.rates.hard_bounce),
        "complaint": percent(one.rates.complaint),
        "open": percent(one.rates.open),
        "click": percent(one.rates.click),
    }


stats.add_command(verify)
stats.add_command(rebuild)
stats.add_command(progress)
