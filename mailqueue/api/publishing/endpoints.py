"""Endpoints of outboxes."""

from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.publishing.schema import ChangeOutbox, NewOutbox, SkipMessage
from mailqueue.contract.automation.publishing import Outbox, Outboxes, OutboxTransport
from mailqueue.projects.model import Scope
from mailqueue.publishing import outboxes

_TAG = "Outboxes"
PATH = "/v1/outboxes"
_ONE = PATH + "/{outbox}"
_WEBHOOK = "0197b8f0-0000-7000-8000-0000000000aa"


async def list_(call: RequestContext) -> Outboxes:
    """List all outboxes."""
    async with call.connection() as conn:
        return Outboxes(await outboxes.list_(conn, call.caller.project_id))


async def get(call: RequestContext) -> Outbox:
    """Return one outbox."""
    async with call.connection() as conn:
        return await outboxes.get(conn, call.caller.project_id, call.path["outbox"])


async def add(call: RequestContext) -> Outbox:
    """Add an outbox."""
    body: NewOutbox = call.body
    async with call.connection() as conn:
        return await outboxes.add(
            conn,
            call.caller.project_id,
            body.name,
            transport=OutboxTransport(body.transport),
            target=body.target,
            by=call.by,
            events=body.events,
        )


async def change(call: RequestContext) -> Outbox:
    """Change where the messages of an outbox are published, and which events it publishes."""
    body: ChangeOutbox = call.body
    project_id, name = call.caller.project_id, call.path["outbox"]
    async with call.connection() as conn:
        changed = await outboxes.change(
            conn,
            project_id,
            name,
            transport=OutboxTransport(body.transport),
            target=body.target,
            by=call.by,
        )
        if "events" not in body.model_fields_set:
            return changed
        return await outboxes.change_events(conn, project_id, name, events=body.events, by=call.by)


async def remove(call: RequestContext) -> None:
    """Remove an outbox."""
    async with call.connection() as conn:
        await outboxes.remove(conn, call.caller.project_id, call.path["outbox"], by=call.by)


async def skip(call: RequestContext) -> None:
    """Leave a message out."""
    body: SkipMessage = call.body
    async with call.connection() as conn:
        await outboxes.skip(
            conn, call.caller.project_id, call.path["outbox"], body.message_id, by=call.by
        )


ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "List outboxes.",
        list_,
        response=Outboxes,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.PROJECT_WRITE,
        "Add an outbox.",
        add,
        request=NewOutbox,
        response=Outbox,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={"name": "orders", "transport": "webhook", "target": _WEBHOOK},
        description="Services write messages to it with the SQL function `mailqueue.publish`; they "
        "are published in order. With `events`, so are events of emails, with the body that "
        "webhooks get. A project may have 50 outboxes.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.PROJECT_READ,
        "Show an outbox.",
        get,
        response=Outbox,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        _ONE,
        Scope.PROJECT_WRITE,
        "Publish the messages of an outbox elsewhere.",
        change,
        request=ChangeOutbox,
        response=Outbox,
        tag=_TAG,
        example={"target": _WEBHOOK},
        description="Messages that wait are published to the new target. Events are unchanged "
        "where `events` is omitted.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.PROJECT_WRITE,
        "Remove an outbox.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Its messages are removed with it, published or not. One that publishes events "
        "is removed once its `events` are null.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/skip",
        Scope.PROJECT_WRITE,
        "Leave a message out of an outbox.",
        skip,
        request=SkipMessage,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        example={"message_id": "0197b8f0-0000-7000-8000-000000000082"},
        description="The messages behind it no longer wait for it.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
