"""Counts and rates: requests of both clients."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, TypeVar
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, path_part
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
