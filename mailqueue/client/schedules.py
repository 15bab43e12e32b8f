"""Schedules: requests of both clients."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain

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


def try_out(
    schedule_type: str, payload: Mapping[str, Any], fields: Mapping[str, Any]
) -> ApiRequest[answers.ScheduleEstimate]:
    """Return the request that adds no schedule, and says what a run of it would come to."""
    body = {"schedule_type": schedule_type, "payload": payload, **fields, "dry_run": True}
    return ApiRequest("POST", _PATH, answers.ScheduleEstimate, sound(plain(body)))


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


def run_now(schedule_id: UUID | str) -> ApiRequest[answers.ScheduleRun]:
    path = f"{_PATH}/{path_part(schedule_id)}/runs"
    return ApiRequest("POST", path, answers.ScheduleRun, key=new_key())


def skip(schedule_id: UUID | str) -> ApiRequest[answers.SkippedRun]:
    path = f"{_PATH}/{path_part(schedule_id)}/skip"
    return ApiRequest("POST", path, answers.SkippedRun, key=new_key())


def estimate(schedule_id: UUID | str) -> ApiRequest[answers.ScheduleEstimate]:
    path = f"{_PATH}/{path_part(schedule_id)}/estimate"
    return ApiRequest("GET", path, answers.ScheduleEstimate)
