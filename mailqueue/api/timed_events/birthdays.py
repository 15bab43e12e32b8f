"""Endpoints of the birthday rule of a project."""

from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.timed_events.schema import SetBirthdayRule
from mailqueue.contract.automation.timed_events import BirthdayRule, LeapDay
from mailqueue.projects.model import Scope
from mailqueue.timed_events import birthdays

_TAG = "Timed events"
PATH = "/v1/birthdays"


async def show(call: RequestContext) -> BirthdayRule:
    """Return the birthday rule."""
    async with call.connection() as conn:
        return await birthdays.show(conn, call.caller.project_id)


async def put(call: RequestContext) -> BirthdayRule:
    """Set the birthday rule."""
    body: SetBirthdayRule = call.body
    async with call.connection() as conn:
        return await birthdays.put(
            conn,
            call.caller.project_id,
            local_time=body.local_time,
            leap_day=LeapDay(body.leap_day),
            template=body.template,
            webhook_id=body.webhook_id,
            payload=body.payload,
            by=call.by,
        )


async def remove(call: RequestContext) -> None:
    """End birthdays."""
    async with call.connection() as conn:
        await birthdays.remove(conn, call.caller.project_id, by=call.by)


BIRTHDAY_ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "Show the birthday rule.",
        show,
        response=BirthdayRule,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        PATH,
        Scope.PROJECT_WRITE,
        "Set what is done on birthdays of contacts.",
        put,
        request=SetBirthdayRule,
        response=BirthdayRule,
        tag=_TAG,
        example={"local_time": "09:00", "leap_day": "february_28", "template": "birthday"},
        description="Each contact with a date of birth then has one pending event of kind "
        "`birthday`; workers plan those of all contacts within seconds.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        PATH,
        Scope.PROJECT_WRITE,
        "End birthdays of contacts.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="None is delivered from now on; those that are pending are removed.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
