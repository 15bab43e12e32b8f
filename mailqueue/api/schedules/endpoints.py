"""Endpoints of schedules."""

from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.schedules.read import definition, in_payload
from mailqueue.api.schedules.runs import RUN_ENDPOINTS
from mailqueue.api.schedules.schema import (
    NewSchedule,
    NextRunsQuery,
    ScheduleQuery,
    ScheduleRequest,
)
from mailqueue.contract.automation.schedules import (
    CancelledRun,
    NextRuns,
    Schedule,
    ScheduleEstimate,
    SkippedRun,
)
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.schedules import schedules
from mailqueue.schedules.trying import try_out

TAG = "Schedules"
PATH = "/v1/schedule"
ONE = PATH + "/{schedule_id}"
_EXAMPLE = {
    "name": "Weekly Digest",
    "schedule_type": "cron",
    "cron_expression": "0 9 * * 1",
    "timezone": "America/New_York",
    "template_slug": "weekly-digest",
    "payload": {"to": ["subscribers-segment"], "variables": {"Edition": "{{ run.week }}"}},
}


async def add(call: RequestContext) -> Schedule | Response:
    """Add a schedule, or return what a run of it would come to."""
    body: NewSchedule = call.body
    given = await definition(call)
    project_id = call.caller.project_id
    try:
        async with call.connection() as conn:
            if body.dry_run:
                return json_answer(await try_out(conn, project_id, given, by=call.by))
            return await schedules.add(conn, project_id, given, by=call.by)
    except InvalidField as exc:
        raise in_payload(exc) from None


async def list_(call: RequestContext) -> Page[Schedule]:
    """List schedules, newest first."""
    query: ScheduleQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        return await schedules.list_page(
            conn, call.caller.project_id, status=query.status, before=before, limit=query.limit
        )


async def get(call: RequestContext) -> Schedule:
    """Return one schedule."""
    async with call.connection() as conn:
        return await schedules.get(conn, call.caller.project_id, call.id("schedule_id"))


async def change(call: RequestContext) -> Schedule:
    """Replace what a schedule does."""
    given = await definition(call)
    try:
        async with call.connection() as conn:
            return await schedules.change(
                conn, call.caller.project_id, call.id("schedule_id"), given, by=call.by
            )
    except InvalidField as exc:
        raise in_payload(exc) from None


async def cancel(call: RequestContext) -> CancelledRun:
    """Cancel a schedule."""
    async with call.connection() as conn:
        return await schedules.cancel(
            conn, call.caller.project_id, call.id("schedule_id"), by=call.by
        )


async def pause(call: RequestContext) -> Schedule:
    """Pause a schedule."""
    async with call.connection() as conn:
        return await schedules.pause(
            conn, call.caller.project_id, call.id("schedule_id"), by=call.by
        )


async def resume(call: RequestContext) -> Schedule:
    """Resume a schedule."""
    async with call.connection() as conn:
        return await schedules.resume(
            conn, call.caller.project_id, call.id("schedule_id"), by=call.by
        )


async def skip(call: RequestContext) -> SkippedRun:
    """Leave the next occurrence out."""
    async with call.connection() as conn:
        return await schedules.skip(
            conn, call.caller.project_id, call.id("schedule_id"), by=call.by
        )


async def next_runs(call: RequestContext) -> NextRuns:
    """Return the next occurrences."""
    query: NextRunsQuery = call.query
    async with call.connection() as conn:
        return await schedules.next_runs(
            conn, call.caller.project_id, call.id("schedule_id"), count=query.n
        )


async def estimate(call: RequestContext) -> ScheduleEstimate:
    """Return what a run would come to."""
    async with call.connection() as conn:
        return await schedules.estimate(conn, call.caller.project_id, call.id("schedule_id"))


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.EMAIL_SEND,
        "Schedule emails, once or again and again.",
        add,
        request=NewSchedule,
        response=Schedule,
        status=HTTPStatus.CREATED,
        tag=TAG,
        example=_EXAMPLE,
        description="The template and the variables are checked now, and rendered with each email. "
        "A project may have 10,000 unfinished schedules that recur, and 100,000 that run once. "
        "With `dry_run` nothing is stored: the response is 200 with what "
        "`GET /v1/schedule/{schedule_id}/estimate` would return.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.EMAIL_READ,
        "List schedules, newest first.",
        list_,
        query=ScheduleQuery,
        response=Page[Schedule],
        tag=TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        ONE,
        Scope.EMAIL_READ,
        "Show a schedule.",
        get,
        response=Schedule,
        tag=TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "PUT",
        ONE,
        Scope.EMAIL_SEND,
        "Change what a schedule does from now on.",
        change,
        request=ScheduleRequest,
        response=Schedule,
        tag=TAG,
        example=_EXAMPLE,
        description="The whole schedule is given anew. One that ran its only time is not changed.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "DELETE",
        ONE,
        Scope.EMAIL_SEND,
        "Cancel a schedule.",
        cancel,
        response=CancelledRun,
        tag=TAG,
        description="A run that is still being made ends, and emails whose time has not come are "
        "cancelled: of recipients whose clock has not reached it, or later in `spread_seconds`. "
        "Emails whose time has come are sent, unless their batch is cancelled.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{ONE}/pause",
        Scope.EMAIL_SEND,
        "Pause a schedule.",
        pause,
        response=Schedule,
        tag=TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{ONE}/resume",
        Scope.EMAIL_SEND,
        "Resume a schedule.",
        resume,
        response=Schedule,
        tag=TAG,
        description="Occurrences of the pause are left out.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{ONE}/skip",
        Scope.EMAIL_SEND,
        "Leave the next run of a schedule out.",
        skip,
        response=SkippedRun,
        tag=TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{ONE}/next-runs",
        Scope.EMAIL_READ,
        "Show the next runs of a schedule.",
        next_runs,
        query=NextRunsQuery,
        response=NextRuns,
        tag=TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{ONE}/estimate",
        Scope.EMAIL_READ,
        "Show how many emails a run would make, and the limits.",
        estimate,
        response=ScheduleEstimate,
        tag=TAG,
        description="Nothing is sent.",
        test_keys=ForTestKeys.OWN,
    ),
    *RUN_ENDPOINTS,
)
