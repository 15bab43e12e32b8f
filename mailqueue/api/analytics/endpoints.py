"""Endpoints of counts: of a project for its keys, of all for administrators."""

from mailqueue.analytics import overview as overviews
from mailqueue.analytics import providers as provider_counts
from mailqueue.analytics import series, spans
from mailqueue.analytics import templates as template_counts
from mailqueue.analytics.model import StatsScope, TimeSpan
from mailqueue.api.analytics.ab_tests import AB_TEST_ENDPOINTS
from mailqueue.api.analytics.exports import EXPORT_ENDPOINTS
from mailqueue.api.analytics.schema import (
    AllOverviewQuery,
    AllSeriesQuery,
    AllTimeQuery,
    HeatmapQuery,
    OverviewQuery,
    SeriesQuery,
    TimeQuery,
)
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.projects.endpoints import named
from mailqueue.contract.analytics import (
    AnalyticsHeatmap,
    AnalyticsOverview,
    AnalyticsProviders,
    AnalyticsTemplate,
    AnalyticsTemplates,
    AnalyticsTimeseries,
)
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope

_TAG = "Analytics"
PATH = "/v1/analytics"
ADMIN_PATH = "/admin/analytics"
_ABOUT = (
    "Counts are exact, and complete for everything written before `as_of`. Test keys see the "
    "counts of test mail. See the guide to analytics for what each count means."
)


async def overview(call: RequestContext) -> AnalyticsOverview:
    """Return counts and rates of the project."""
    query: OverviewQuery = call.query
    async with call.reports() as conn:
        span = await _span(conn, query, _own(call))
        return await overviews.overview(conn, query.scope(_own(call)), span, compares=query.compare)


async def timeseries(call: RequestContext) -> AnalyticsTimeseries:
    """Return a count of the project over time."""
    query: SeriesQuery = call.query
    async with call.reports() as conn:
        return await _timeseries(conn, query, _own(call))


async def heatmap(call: RequestContext) -> AnalyticsHeatmap:
    """Return a count of the project by hour and day of the week."""
    query: HeatmapQuery = call.query
    async with call.reports() as conn:
        span = await _span(conn, query, _own(call))
        return await series.heatmap(conn, query.scope(_own(call)), span, metric=query.metric)


async def templates(call: RequestContext) -> AnalyticsTemplates:
    """Return the templates of the project with their counts."""
    query: TimeQuery = call.query
    async with call.reports() as conn:
        span = await _span(conn, query, _own(call))
        return await template_counts.templates(conn, _own(call), span)


async def template(call: RequestContext) -> AnalyticsTemplate:
    """Return one template of the project."""
    query: TimeQuery = call.query
    async with call.reports() as conn:
        span = await _span(conn, query, _own(call))
        return await template_counts.template(conn, _own(call), span, call.path["template"])


async def providers(call: RequestContext) -> AnalyticsProviders:
    """Return the providers and sender accounts of the project."""
    query: TimeQuery = call.query
    async with call.reports() as conn:
        span = await _span(conn, query, _own(call))
        return await provider_counts.providers(conn, _own(call), span)


async def overview_of_all(call: RequestContext) -> AnalyticsOverview:
    """Return counts and rates of all projects, or of one."""
    query: AllOverviewQuery = call.query
    async with call.reports() as conn:
        scope = await _any(conn, query.project)
        span = await _span(conn, query, scope)
        return await overviews.overview(conn, query.scope(scope), span, compares=query.compare)


async def timeseries_of_all(call: RequestContext) -> AnalyticsTimeseries:
    """Return a count of all projects over time, or of one."""
    query: AllSeriesQuery = call.query
    async with call.reports() as conn:
        return await _timeseries(conn, query, await _any(conn, query.project))


async def providers_of_all(call: RequestContext) -> AnalyticsProviders:
    """Return the providers and sender accounts of all projects, or of one."""
    query: AllTimeQuery = call.query
    async with call.reports() as conn:
        scope = await _any(conn, query.project)
        return await provider_counts.providers(conn, scope, await _span(conn, query, scope))


async def _timeseries(conn: Conn, query: SeriesQuery, scope: StatsScope) -> AnalyticsTimeseries:
    return await series.timeseries(
        conn,
        query.scope(scope),
        await _span(conn, query, scope),
        metric=query.metric,
        bucket=query.bucket,
        group_by=query.group_by,
        compares=query.compare,
    )


def _own(call: RequestContext) -> StatsScope:
    """Return the caller's project, in the mode of its key."""
    return StatsScope(call.caller.project_id, bool(call.is_test))


async def _any(conn: Conn, project: str | None) -> StatsScope:
    """Return one project, or all."""
    return StatsScope(None if project is None else (await named(conn, project)).id)


async def _span(conn: Conn, query: TimeQuery, scope: StatsScope) -> TimeSpan:
    return await spans.requested_span(
        conn, query.from_, query.to, query.timezone, project_id=scope.project_id
    )


ENDPOINTS = (
    Endpoint(
        "GET",
        f"{PATH}/overview",
        Scope.ANALYTICS_READ,
        "Show counts and rates of the project.",
        overview,
        query=OverviewQuery,
        response=AnalyticsOverview,
        tag=_TAG,
        description=_ABOUT,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/timeseries",
        Scope.ANALYTICS_READ,
        "Show a count over time.",
        timeseries,
        query=SeriesQuery,
        response=AnalyticsTimeseries,
        tag=_TAG,
        description=_ABOUT,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/heatmap",
        Scope.ANALYTICS_READ,
        "Show a count by hour and day of the week.",
        heatmap,
        query=HeatmapQuery,
        response=AnalyticsHeatmap,
        tag=_TAG,
        description=_ABOUT,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/templates",
        Scope.ANALYTICS_READ,
        "Compare the templates of the project.",
        templates,
        query=TimeQuery,
        response=AnalyticsTemplates,
        tag=_TAG,
        description=_ABOUT,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/templates/{{template}}",
        Scope.ANALYTICS_READ,
        "Show the versions and links of a template.",
        template,
        query=TimeQuery,
        response=AnalyticsTemplate,
        tag=_TAG,
        description=_ABOUT,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        f"{PATH}/providers",
        Scope.ANALYTICS_READ,
        "Compare providers and sender accounts.",
        providers,
        query=TimeQuery,
        response=AnalyticsProviders,
        tag=_TAG,
        description=_ABOUT,
        test_keys=ForTestKeys.OWN,
    ),
    *EXPORT_ENDPOINTS,
    *AB_TEST_ENDPOINTS,
    Endpoint(
        "GET",
        f"{ADMIN_PATH}/overview",
        None,
        "Show counts and rates of all projects.",
        overview_of_all,
        query=AllOverviewQuery,
        response=AnalyticsOverview,
        superadmin=True,
        tag="Installation",
        description=_ABOUT,
    ),
    Endpoint(
        "GET",
        f"{ADMIN_PATH}/timeseries",
        None,
        "Show a count of all projects over time.",
        timeseries_of_all,
        query=AllSeriesQuery,
        response=AnalyticsTimeseries,
        superadmin=True,
        tag="Installation",
        description=_ABOUT,
    ),
    Endpoint(
        "GET",
        f"{ADMIN_PATH}/providers",
        None,
        "Compare providers and sender accounts of all projects.",
        providers_of_all,
        query=AllTimeQuery,
        response=AnalyticsProviders,
        superadmin=True,
        tag="Installation",
        description=_ABOUT,
    ),
)
