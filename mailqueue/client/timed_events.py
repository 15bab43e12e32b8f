"""Timed events, for both clients."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, TypeVar, Unpack
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain

T = TypeVar("T")
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


class TimedEvents(ABC):
    """The methods of the client that wait for their answer."""

    @abstractmethod
    def _ask(self, ask: ApiRequest[T]) -> T:
        """Return the answer to a request."""

    def put_timed_event(
        self, kind: str, **fields: Unpack[TimedEventFields]
    ) -> answers.PutTimedEvent:
        """Add an event that is due at `at` or `local_at`, or find the one with its key."""
        return self._ask(put(kind, fields))

    def timed_event(self, event_id: UUID | str) -> answers.TimedEvent:
        """Return a timed event."""
        return self._ask(get(event_id))

    def timed_events(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[TimedEventFilters]
    ) -> answers.Page[answers.TimedEvent]:
        """Return one page of timed events, newest first."""
        return self._ask(list_page({**filters, "limit": limit, "cursor": cursor}))

    def change_timed_event(
        self, event_id: UUID | str, *, version: int, **fields: Unpack[TimedEventChange]
    ) -> answers.TimedEvent:
        """Change the time or payload of a pending event that has still the version."""
        return self._ask(change(event_id, version, fields))

    def cancel_timed_event(
        self, event_id: UUID | str, *, version: int | None = None
    ) -> answers.TimedEvent:
        """Cancel a pending event, whatever its version by default."""
        return self._ask(cancel(event_id, version))


class AsyncTimedEvents(ABC):
    """The methods of the asynchronous client."""

    @abstractmethod
    async def _ask(self, ask: ApiRequest[T]) -> T:
        """Return the answer to a request."""

    async def put_timed_event(
        self, kind: str, **fields: Unpack[TimedEventFields]
    ) -> answers.PutTimedEvent:
        """Add an event that is due at `at` or `local_at`, or find the one with its key."""
        return await self._ask(put(kind, fields))

    async def timed_event(self, event_id: UUID | str) -> answers.TimedEvent:
        """Return a timed event."""
        return await self._ask(get(event_id))

    async def timed_events(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[TimedEventFilters]
    ) -> answers.Page[answers.TimedEvent]:
        """Return one page of timed events, newest first."""
        return await self._ask(list_page({**filters, "limit": limit, "cursor": cursor}))

    async def change_timed_event(
        self, event_id: UUID | str, *, version: int, **fields: Unpack[TimedEventChange]
    ) -> answers.TimedEvent:
        """Change the time or payload of a pending event that has still the version."""
        return await self._ask(change(event_id, version, fields))

    async def cancel_timed_event(
        self, event_id: UUID | str, *, version: int | None = None
    ) -> answers.TimedEvent:
        """Cancel a pending event, whatever its version by default."""
        return await self._ask(cancel(event_id, version))
