"""Timed events: requests of both clients."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain

_PATH = "/v1/timed-events"


class TimedEventFields(TypedDict, total=False):
    """When an event is due, and what it does: a template or a webhook."""

    at: datetime | None
    local_at: datetime | str | None  # a wall clock, without an offset
    time_zone: str | None
    contact_id: UUID | str | None
    template: str | None
    recipient: str | None
    webhook_id: UUID | str | None
    payload: Mapping[str, Any] | None
    idempotency_key: str | None


class TimedEventChange(TypedDict, total=False):
    """Fields of a pending event to change."""

    at: datetime | None
    local_at: datetime | str | None  # a wall clock, without an offset
    time_zone: str | None
    payload: Mapping[str, Any] | None


class TimedEventFilters(TypedDict, total=False):
    """Filters of a list of timed events; an event is listed if all given filters match."""

    kind: str | None
    status: str | None
    contact_id: UUID | str | None
    since: datetime | None
    until: datetime | None


def put(kind: str, fields: Mapping[str, Any]) -> ApiRequest[answers.PutTimedEvent]:
    """Return the request that adds an event, or finds the one with its key."""
    body = sound(plain({"kind": kind, **_with_wall_clock(fields)}))
    key = body.get("idempotency_key", new_key())  # any text: one of the caller stays in the body
    return ApiRequest("POST", _PATH, answers.PutTimedEvent, body, key=key)


def get(event_id: UUID | str) -> ApiRequest[answers.TimedEvent]:
    return ApiRequest("GET", f"{_PATH}/{path_part(event_id)}", answers.TimedEvent)


def list_page(params: Mapping[str, Any]) -> ApiRequest[answers.Page[answers.TimedEvent]]:
    return ApiRequest("GET", _PATH, answers.Page[answers.TimedEvent], query=plain(params))


def change(
    event_id: UUID | str, version: int, fields: Mapping[str, Any]
) -> ApiRequest[answers.TimedEvent]:
    body = sound(plain({"version": version, **_with_wall_clock(fields)}))
    return ApiRequest("PATCH", f"{_PATH}/{path_part(event_id)}", answers.TimedEvent, body)


def cancel(event_id: UUID | str, version: int | None) -> ApiRequest[answers.TimedEvent]:
    path, body = f"{_PATH}/{path_part(event_id)}/cancel", plain({"version": version})
    return ApiRequest("POST", path, answers.TimedEvent, body, key=new_key())


def _with_wall_clock(fields: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(fields)
    if isinstance(clock := given.get("local_at"), datetime):
        given["local_at"] = clock.isoformat()
    return given
