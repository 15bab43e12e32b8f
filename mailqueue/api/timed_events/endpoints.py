"""Endpoints of timed events: put, list, show, change, cancel."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.timed_events.birthdays import BIRTHDAY_ENDPOINTS
from mailqueue.api.timed_events.schema import (
    CancelTimedEvent,
    ChangeTimedEvent,
    NewTimedEvent,
    TimedEventsQuery,
)
from mailqueue.contract.automation.timed_events import PutTimedEvent, TimedEvent, TimedEventStatus
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.timed_events import events
from mailqueue.timed_events.model import TimedEventFilter

_TAG = "Timed events"
PATH = "/v1/timed-events"
_ONE = PATH + "/{timed_event_id}"


async def put(call: RequestContext) -> PutTimedEvent:
    """Add an event, or return the one that has its idempotency key."""
    body: NewTimedEvent = call.body
    async with call.connection() as conn:
        return await events.put(
            conn,
            call.caller.project_id,
            **body.model_dump(),
            is_test=call.caller.is_test,
            by=call.by,
        )


async def list_(call: RequestContext) -> Page[TimedEvent]:
    """List events, newest first."""
    query: TimedEventsQuery = call.query
    filters = TimedEventFilter(
        query.kind,
        None if query.status is None else TimedEventStatus(query.status),
        query.contact_id,
        query.since,
        query.until,
    )
    (before,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        return await events.list_page(
            conn, call.caller.project_id, filters=filters, before=before, limit=query.limit
        )


async def show(call: RequestContext) -> TimedEvent:
    """Return one event."""
    async with call.connection() as conn:
        return await events.show(conn, call.caller.project_id, call.id("timed_event_id"))


async def change(call: RequestContext) -> TimedEvent:
    """Change the time or the payload of a pending event."""
    body: ChangeTimedEvent = call.body
    given = body.model_dump(mode="json", exclude_unset=True, exclude={"version"})
    async with call.connection() as conn:
        return await events.change(
            conn,
            call.caller.project_id,
            call.id("timed_event_id"),
            version=body.version,
            given=given,
        )


async def cancel(call: RequestContext) -> TimedEvent:
    """Cancel a pending event."""
    body: CancelTimedEvent = call.body
    async with call.connection() as conn:
        return await events.cancel(
            conn,
            call.caller.project_id,
            call.id("timed_event_id"),
            version=body.version,
            by=call.by,
        )


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.EMAIL_SEND,
        "Add a timed event.",
        put,
        request=NewTimedEvent,
        response=PutTimedEvent,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={
            "kind": "renewal",
            "local_at": "2027-05-31T09:00:00",
            "time_zone": "Europe/Berlin",
            "recipient": "ann@example.com",
            "template": "renewal",
            "payload": {"plan": "Team"},
            "idempotency_key": "renewal-81-2027",
        },
        description="When it is due, the mail is queued or the webhook is called, at most 4 times "
        "if it fails. A wall clock that does not exist is the first moment after it; one that "
        "happens twice is the first.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.EMAIL_READ,
        "List timed events, newest first.",
        list_,
        query=TimedEventsQuery,
        response=Page[TimedEvent],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.EMAIL_READ,
        "Show a timed event.",
        show,
        response=TimedEvent,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "PATCH",
        _ONE,
        Scope.EMAIL_SEND,
        "Change the time or the payload of a pending event.",
        change,
        request=ChangeTimedEvent,
        response=TimedEvent,
        tag=_TAG,
        example={"version": 1, "local_at": "2027-06-01T09:00:00"},
        description="409 if it has another version than the caller read, or is not pending.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/cancel",
        Scope.EMAIL_SEND,
        "Cancel a pending event.",
        cancel,
        request=CancelTimedEvent,
        response=TimedEvent,
        tag=_TAG,
        example={"version": 1},
        description="409 if it has another version than the caller read, or is not pending. A "
        "cancelled birthday is followed by that of the next year.",
        test_keys=ForTestKeys.OWN,
    ),
    *BIRTHDAY_ENDPOINTS,
)
