"""Counts and rates."""

from typing import Unpack
from uuid import UUID

from mailqueue.client import analytics, answers
from mailqueue.client.analytics import AnalyticsFilters, AnalyticsTime
from mailqueue.client.asynchronous.calls import AsyncCalls


class AsyncAnalytics(AsyncCalls):
    """Methods for counts and rates."""

    async def analytics_overview(
        self, *, compare: bool = False, **asked: Unpack[AnalyticsFilters]
    ) -> answers.AnalyticsOverview:
        """Return counts and rates of a time; with `compare` those of the time before too."""
        params = {"compare": compare, **asked}
        return await self._ask(analytics.counts("overview", answers.AnalyticsOverview, params))

    async def analytics_timeseries(
        self,
        metric: str = "sent",
        *,
        bucket: str = "day",
        group_by: str | None = None,
        compare: bool = False,
        **asked: Unpack[AnalyticsFilters],
    ) -> answers.AnalyticsTimeseries:
        """Return a count in each minute, hour, day, week or month, of all or by a dimension."""
        own = {"metric": metric, "bucket": bucket, "group_by": group_by, "compare": compare}
        kind = answers.AnalyticsTimeseries
        return await self._ask(analytics.counts("timeseries", kind, {**own, **asked}))

    async def analytics_heatmap(
        self, metric: str = "sent", **asked: Unpack[AnalyticsFilters]
    ) -> answers.AnalyticsHeatmap:
        """Return a count by hour of the day and day of the week."""
        params = {"metric": metric, **asked}
        return await self._ask(analytics.counts("heatmap", answers.AnalyticsHeatmap, params))

    async def analytics_templates(
        self, **asked: Unpack[AnalyticsTime]
    ) -> answers.AnalyticsTemplates:
        """Return the templates with their counts, the one that was sent most first."""
        return await self._ask(analytics.counts("templates", answers.AnalyticsTemplates, asked))

    async def analytics_template(
        self, template: UUID | str, **asked: Unpack[AnalyticsTime]
    ) -> answers.AnalyticsTemplate:
        """Return one template with its versions and links, by id or slug."""
        return await self._ask(analytics.template_counts(template, asked))

    async def analytics_providers(
        self, **asked: Unpack[AnalyticsTime]
    ) -> answers.AnalyticsProviders:
        """Return providers and sender accounts with rates and response times."""
        return await self._ask(analytics.counts("providers", answers.AnalyticsProviders, asked))
