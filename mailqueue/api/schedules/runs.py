"""Endpoints of the runs of schedules."""

from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import PageQuery
from mailqueue.contract.automation.schedules import ScheduleRun, ScheduleRunRecipient
from mailqueue.contract.page import Page
from mailqueue.core.errors import NotFound
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.schedules import schedules

_TAG = "Schedules"
_PATH = "/v1/schedule/{schedule_id}/runs"
_ONE = _PATH + "/{number}"
_DIGITS = 9


async def run(call: RequestContext) -> ScheduleRun:
    """Begin a run now."""
    async with call.connection() as conn:
        return await schedules.run(conn, call.caller.project_id, call.id("schedule_id"), by=call.by)


async def list_(call: RequestContext) -> Page[ScheduleRun]:
    """List runs, newest first."""
    query: PageQuery = call.query
    (before,) = key_of(query.cursor, int)
    async with call.connection() as conn:
        return await schedules.runs(
            conn,
            call.caller.project_id,
            call.id("schedule_id"),
            before=before,
            limit=query.limit,
        )


async def get(call: RequestContext) -> ScheduleRun:
    """Return one run."""
    async with call.connection() as conn:
        return await schedules.find_run(
            conn, call.caller.project_id, call.id("schedule_id"), _number(call)
        )


async def recipients(call: RequestContext) -> Page[ScheduleRunRecipient]:
    """List the recipients of a run that was made in parts."""
    query: PageQuery = call.query
    (after,) = key_of(query.cursor, str)
    async with call.connection() as conn:
        found = await schedules.find_run(
            conn, call.caller.project_id, call.id("schedule_id"), _number(call)
        )
        return await schedules.recipients(
            conn, call.caller.project_id, found.id, after=after, limit=query.limit
        )


def _number(call: RequestContext) -> int:
    given = call.path["number"]
    if not (given.isascii() and given.isdigit() and len(given) <= _DIGITS):
        raise NotFound("run", given[:100])
    return int(given)


RUN_ENDPOINTS = (
    Endpoint(
        "POST",
        _PATH,
        Scope.EMAIL_SEND,
        "Run a schedule now.",
        run,
        response=ScheduleRun,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        description="Beside its occurrences, which stay as they are.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        _PATH,
        Scope.EMAIL_READ,
        "List the runs of a schedule, newest first.",
        list_,
        query=PageQuery,
        response=Page[ScheduleRun],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.EMAIL_READ,
        "Show a run of a schedule.",
        get,
        response=ScheduleRun,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{_ONE}/recipients",
        Scope.EMAIL_READ,
        "List the recipients of a run, with their time zones.",
        recipients,
        query=PageQuery,
        response=Page[ScheduleRunRecipient],
        tag=_TAG,
        description="Of runs that are made in parts: with lists, with more than 100 recipients, or "
        "on recipients' clocks. The batch of any run has its emails.",
        test_keys=ForTestKeys.OWN,
    ),
)
