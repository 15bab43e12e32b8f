"""Exports to files: requests of both clients."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain


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


def begin(kind: str, form: str, filters: Mapping[str, Any]) -> ApiRequest[answers.DataExport]:
    """Return the request that begins an export."""
    names = {"since": "from", "until": "to"}
    conditions = plain({names.get(name, name): value for name, value in filters.items()})
    body = {"kind": kind, "format": form, "filter": conditions}
    path = "/v1/analytics/export"
    return ApiRequest("POST", path, answers.DataExport, sound(body), key=new_key())


def one(method: str, export_id: UUID | str) -> ApiRequest[answers.DataExport]:
    """Return the request that shows an export, or deletes its file."""
    path = f"/v1/analytics/exports/{path_part(export_id)}"
    return ApiRequest(method, path, answers.DataExport)
