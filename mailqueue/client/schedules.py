"""Schedules, for both clients."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, TypeVar, Unpack
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain

T = TypeVar("T")
_PATH = "/v1/schedule"


class ScheduleFields(TypedDict, total=False):
    """When a schedule runs, its template, and what becomes of occurrences that are late."""

    name: str | None
    run_at: datetime | str | None  # a text without an offset is a time in `timezone`
    cron_expression: str | None
    timezone: str | None
    template_slug: str | None
    template_version: int | str | None
    language: str | None
    missed: str | None
    overlap: str | None
    ends_at: datetime | str | None
    max_runs: int | None
    spread_seconds: int | None


def create(
    schedule_type: str, payload: Mapping[str, Any], fields: Mapping[str, Any]
) -> ApiRequest[answers.Schedule]:
    """Return the request that adds a schedule; `payload` has recipients, content and options."""
    body = plain({"schedule_type": schedule_type, "payload": payload, **fields})
    return ApiRequest("POST", _PATH, answers.Schedule, sound(body), key=new_key())


def get(schedule_id: UUID | str) -> ApiRequest[answers.Schedule]:
    return ApiRequest("GET", f"{_PATH}/{path_part(schedule_id)}", answers.Schedule)


def list_page(params: Mapping[str, Any]) -> ApiRequest[answers.Page[answers.Schedule]]:
    return ApiRequest("GET", _PATH, answers.Page[answers.Schedule], query=plain(params))


def act(schedule_id: UUID | str, action: str) -> ApiRequest[answers.Schedule]:
    """Return the request that pauses or resumes a schedule."""
    path = f"{_PATH}/{path_part(schedule_id)}/{action}"
    return ApiRequest("POST", path, answers.Schedule, key=new_key())


def cancel(schedule_id: UUID | str) -> ApiRequest[answers.CancelledRun]:
    return ApiRequest("DELETE", f"{_PATH}/{path_part(schedule_id)}", answers.CancelledRun)


def runs(
    schedule_id: UUID | str, params: Mapping[str, Any]
) -> ApiRequest[answers.Page[answers.ScheduleRun]]:
    path = f"{_PATH}/{path_part(schedule_id)}/runs"
    return ApiRequest("GET", path, answers.Page[answers.ScheduleRun], query=plain(params))


def preview(schedule_id: UUID | str, count: int) -> ApiRequest[answers.NextRuns]:
    path = f"{_PATH}/{path_part(schedule_id)}/next-runs"
    return ApiRequest("GET", path, answers.NextRuns, query={"n": count})


class Schedules(ABC):
    """The methods of the client that wait for their answer."""

    @abstractmethod
    def _ask(self, ask: ApiRequest[T]) -> T:
        """Return the answer to a request."""

    def create_schedule(
        self, schedule_type: str, payload: Mapping[str, Any], **fields: Unpack[ScheduleFields]
    ) -> answers.Schedule:
        """Add a schedule of type once, cron or local; `payload` is as in the API."""
        return self._ask(create(schedule_type, payload, fields))

    def schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Return a schedule."""
        return self._ask(get(schedule_id))

    def schedules(
        self, *, status: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.Schedule]:
        """Return one page of schedules, newest first."""
        return self._ask(list_page({"status": status, "limit": limit, "cursor": cursor}))

    def pause_schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Pause a schedule."""
        return self._ask(act(schedule_id, "pause"))

    def resume_schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Resume a schedule; occurrences of the pause are left out."""
        return self._ask(act(schedule_id, "resume"))

    def cancel_schedule(self, schedule_id: UUID | str) -> answers.CancelledRun:
        """Cancel a schedule, and mail of its runs whose time has not come."""
        return self._ask(cancel(schedule_id))

    def schedule_runs(
        self, schedule_id: UUID | str, *, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.ScheduleRun]:
        """Return one page of the runs of a schedule, newest first."""
        return self._ask(runs(schedule_id, {"limit": limit, "cursor": cursor}))

    def preview_schedule(self, schedule_id: UUID | str, *, count: int = 5) -> answers.NextRuns:
        """Return the next runs of a schedule."""
        return self._ask(preview(schedule_id, count))


class AsyncSchedules(ABC):
    """The methods of the asynchronous client."""

    @abstractmethod
    async def _ask(self, ask: ApiRequest[T]) -> T:
        """Return the answer to a request."""

    async def create_schedule(
        self, schedule_type: str, payload: Mapping[str, Any], **fields: Unpack[ScheduleFields]
    ) -> answers.Schedule:
        """Add a schedule of type once, cron or local; `payload` is as in the API."""
        return await self._ask(create(schedule_type, payload, fields))

    async def schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Return a schedule."""
        return await self._ask(get(schedule_id))

    async def schedules(
        self, *, status: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.Schedule]:
        """Return one page of schedules, newest first."""
        return await self._ask(list_page({"status": status, "limit": limit, "cursor": cursor}))

    async def pause_schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Pause a schedule."""
        return await self._ask(act(schedule_id, "pause"))

    async def resume_schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Resume a schedule; occurrences of the pause are left out."""
        return await self._ask(act(schedule_id, "resume"))

    async def cancel_schedule(self, schedule_id: UUID | str) -> answers.CancelledRun:
        """Cancel a schedule, and mail of its runs whose time has not come."""
        return await self._ask(cancel(schedule_id))

    async def schedule_runs(
        self, schedule_id: UUID | str, *, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.ScheduleRun]:
        """Return one page of the runs of a schedule, newest first."""
        return await self._ask(runs(schedule_id, {"limit": limit, "cursor": cursor}))

    async def preview_schedule(
        self, schedule_id: UUID | str, *, count: int = 5
    ) -> answers.NextRuns:
        """Return the next runs of a schedule."""
        return await self._ask(preview(schedule_id, count))
