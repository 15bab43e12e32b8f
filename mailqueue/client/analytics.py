"""Counts and rates, for both clients."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, TypeVar, Unpack
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain

T = TypeVar("T")


class AnalyticsTime(TypedDict, total=False):
    """The time that counts cover, 30 days up to now by default."""

    since: datetime | None
    until: datetime | None
    timezone: str | None


class AnalyticsFilters(TypedDict, total=False):
    """The time that counts cover, and at most one value that they are about."""

    since: datetime | None
    until: datetime | None
    timezone: str | None
    campaign: str | None
    template: UUID | str | None
    category: str | None
    tag: str | None
    provider: str | None
    domain: str | None


def counts(path: str, kind: type[T], params: Mapping[str, Any]) -> ApiRequest[T]:
    """Return the request for counts: `path` below /v1/analytics, `kind` the answer's."""
    asked = dict(params)
    names = {"since": "from", "until": "to"}
    query = plain({names.get(name, name): value for name, value in asked.items()})
    return ApiRequest("GET", f"/v1/analytics/{path}", kind, query=query)


def template_counts(
    named: UUID | str, params: Mapping[str, Any]
) -> ApiRequest[answers.AnalyticsTemplate]:
    return counts(f"templates/{path_part(named)}", answers.AnalyticsTemplate, params)


class ExportFilters(TypedDict, total=False):
    """The time that an export covers, and conditions that its rows match."""

    since: datetime | None
    until: datetime | None
    status: str | None
    campaign: str | None
    tag: str | None
    category: str | None
    type: str | None
    dimension: str | None
    reason: str | None


def begin_export(
    kind: str, form: str, filters: Mapping[str, Any]
) -> ApiRequest[answers.DataExport]:
    """Return the request that begins an export."""
    names = {"since": "from", "until": "to"}
    conditions = plain({names.get(name, name): value for name, value in filters.items()})
    body = {"kind": kind, "format": form, "filter": conditions}
    path = "/v1/analytics/export"
    return ApiRequest("POST", path, answers.DataExport, sound(body), key=new_key())


def one_export(method: str, export_id: UUID | str) -> ApiRequest[answers.DataExport]:
    """Return the request that shows an export, or deletes its file."""
    path = f"/v1/analytics/exports/{path_part(export_id)}"
    return ApiRequest(method, path, answers.DataExport)


class Analytics(ABC):
    """The methods of the client that wait for their answer."""

    @abstractmethod
    def _ask(self, ask: ApiRequest[T]) -> T:
        """Return the answer to a request."""

    def analytics_overview(
        self, *, compare: bool = False, **asked: Unpack[AnalyticsFilters]
    ) -> answers.AnalyticsOverview:
        """Return counts and rates of a time; with `compare` those of the time before too."""
        params = {"compare": compare, **asked}
        return self._ask(counts("overview", answers.AnalyticsOverview, params))

    def analytics_timeseries(
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
        return self._ask(counts("timeseries", kind, {**own, **asked}))

    def analytics_heatmap(
        self, metric: str = "sent", **asked: Unpack[AnalyticsFilters]
    ) -> answers.AnalyticsHeatmap:
        """Return a count by hour of the day and day of the week."""
        params = {"metric": metric, **asked}
        return self._ask(counts("heatmap", answers.AnalyticsHeatmap, params))

    def analytics_templates(self, **asked: Unpack[AnalyticsTime]) -> answers.AnalyticsTemplates:
        """Return the templates with their counts, the one that was sent most first."""
        return self._ask(counts("templates", answers.AnalyticsTemplates, asked))

    def analytics_template(
        self, template: UUID | str, **asked: Unpack[AnalyticsTime]
    ) -> answers.AnalyticsTemplate:
        """Return one template with its versions and links, by id or slug."""
        return self._ask(template_counts(template, asked))

    def analytics_providers(self, **asked: Unpack[AnalyticsTime]) -> answers.AnalyticsProviders:
        """Return providers and sender accounts with rates and response times."""
        return self._ask(counts("providers", answers.AnalyticsProviders, asked))

    def begin_export(
        self, kind: str, *, form: str = "csv", **filters: Unpack[ExportFilters]
    ) -> answers.DataExport:
        """Begin an export of emails, events, recipients, stats or suppressions to a file."""
        return self._ask(begin_export(kind, form, filters))

    def get_export(self, export_id: UUID | str) -> answers.DataExport:
        """Return an export with its progress; once it is done, with a link to its file."""
        return self._ask(one_export("GET", export_id))

    def delete_export(self, export_id: UUID | str) -> answers.DataExport:
        """Delete the file of an export, and end an unfinished one."""
        return self._ask(one_export("DELETE", export_id))


class AsyncAnalytics(ABC):
    """The methods of the asynchronous client."""

    @abstractmethod
    async def _ask(self, ask: ApiRequest[T]) -> T:
        """Return the answer to a request."""

    async def analytics_overview(
        self, *, compare: bool = False, **asked: Unpack[AnalyticsFilters]
    ) -> answers.AnalyticsOverview:
        """Return counts and rates of a time; with `compare` those of the time before too."""
        params = {"compare": compare, **asked}
        return await self._ask(counts("overview", answers.AnalyticsOverview, params))

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
        return await self._ask(counts("timeseries", kind, {**own, **asked}))

    async def analytics_heatmap(
        self, metric: str = "sent", **asked: Unpack[AnalyticsFilters]
    ) -> answers.AnalyticsHeatmap:
        """Return a count by hour of the day and day of the week."""
        params = {"metric": metric, **asked}
        return await self._ask(counts("heatmap", answers.AnalyticsHeatmap, params))

    async def analytics_templates(
        self, **asked: Unpack[AnalyticsTime]
    ) -> answers.AnalyticsTemplates:
        """Return the templates with their counts, the one that was sent most first."""
        return await self._ask(counts("templates", answers.AnalyticsTemplates, asked))

    async def analytics_template(
        self, template: UUID | str, **asked: Unpack[AnalyticsTime]
    ) -> answers.AnalyticsTemplate:
        """Return one template with its versions and links, by id or slug."""
        return await self._ask(template_counts(template, asked))

    async def analytics_providers(
        self, **asked: Unpack[AnalyticsTime]
    ) -> answers.AnalyticsProviders:
        """Return providers and sender accounts with rates and response times."""
        return await self._ask(counts("providers", answers.AnalyticsProviders, asked))

    async def begin_export(
        self, kind: str, *, form: str = "csv", **filters: Unpack[ExportFilters]
    ) -> answers.DataExport:
        """Begin an export of emails, events, recipients, stats or suppressions to a file."""
        return await self._ask(begin_export(kind, form, filters))

    async def get_export(self, export_id: UUID | str) -> answers.DataExport:
        """Return an export with its progress; once it is done, with a link to its file."""
        return await self._ask(one_export("GET", export_id))

    async def delete_export(self, export_id: UUID | str) -> answers.DataExport:
        """Delete the file of an export, and end an unfinished one."""
        return await self._ask(one_export("DELETE", export_id))
