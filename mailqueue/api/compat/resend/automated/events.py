"""Resend's API: events, which are those of the inbox here, and the types of their fields.

Follows resend.com/docs/api-reference/events. An event that is sent is delivered to the inbox once:
its type is the name, its payload has `email` and, as `payload`, the fields. Event rules, such as
those of automations, act on it. One that was not defined is delivered as well.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.idempotency import respond_once
from mailqueue.api.compat.model import managing_endpoint
from mailqueue.api.compat.postmark.ruled.store import (
    ProjectRule,
    RuleKind,
    list_rules,
    put_rule,
    remove_rule,
)
from mailqueue.api.compat.resend.pages import (
    ListPage,
    body_of,
    idempotency_key_of,
    list_answer,
    page_of,
    page_query,
)
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.emails.schema import StorableObject, StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contacts import contacts
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.inbox import events
from mailqueue.projects.model import Scope

MAX_FIELDS = 100
RESERVED = "resend:"
_UPDATED = "updated_at"
EventName = Annotated[StorableText, Field(min_length=1, max_length=200)]
_FieldName = Annotated[StorableText, Field(min_length=1, max_length=200)]
_FieldType = Literal["string", "number", "boolean", "date"]
_Schema = Annotated[dict[_FieldName, _FieldType], Field(max_length=MAX_FIELDS)]


class ChangedEventDefinition(StrictRequestModel):
    """The body of PATCH /events/{event}; null removes the types."""

    schema_: _Schema | None = Field(alias="schema")


class NewEventDefinition(StrictRequestModel):
    """The body of POST /events."""

    name: EventName
    schema_: _Schema | None = Field(default=None, alias="schema")


class SentEvent(StrictRequestModel):
    """The body of POST /events/send."""

    event: EventName
    contact_id: StorableText | None = None
    email: StorableText | None = None
    payload: StorableObject = Field(default_factory=dict)


async def create(call: RequestContext) -> Response:
    """Define an event."""
    body = await body_of(call, NewEventDefinition)
    _check_name("name", body.name)
    settings = {"schema": body.schema_, _UPDATED: None}
    made = await put_rule(call, RuleKind.EVENT, body.name, settings)
    if made is None:
        raise Conflict(f"Event {body.name} already exists")
    return _answer(made, status=201)


async def index(call: RequestContext) -> Response:
    """List the events that are defined, newest first."""
    query = page_query(call, ListPage)
    found = sorted(await _definitions(call), key=lambda one: one.id, reverse=True)
    page, has_more = page_of(found, query, lambda one: one.id)
    return list_answer([_shown(one) for one in page], has_more)


async def show(call: RequestContext) -> Response:
    """Show an event that is defined, by its id or its name."""
    return json_answer({"object": "event", **_shown(await _found(call))})


async def change(call: RequestContext) -> Response:
    """Change the types of the fields of an event."""
    one = await _found(call)
    body = await body_of(call, ChangedEventDefinition)
    settings = {"schema": body.schema_, _UPDATED: stamp(datetime.now(UTC))}
    changed = await put_rule(call, RuleKind.EVENT, one.subject, settings, rule_id=one.id)
    if changed is None:
        raise NotFound("event", one.subject)
    return _answer(changed)


async def remove(call: RequestContext) -> Response:
    """Remove the definition of an event; automations that it starts stay."""
    one = await _found(call)
    await remove_rule(call, RuleKind.EVENT, one)
    return json_answer({"object": "event", "id": one.id, "deleted": True})


async def send(call: RequestContext) -> Response:
    """Deliver an event about a contact; a repeated idempotency key delivers nothing again."""
    body = await body_of(call, SentEvent)
    _check_name("event", body.event)
    key = idempotency_key_of(call)
    async with call.connection() as conn:
        defined = await list_rules(conn, call.caller.project_id, RuleKind.EVENT, [body.event])
    for one in defined:
        _check_payload(one.settings["schema"] or {}, body.payload)
    email = await _address(call, body)

    async def delivered() -> Response:
        async with call.connection() as conn:
            await events.deliver(
                conn,
                call.caller.project,
                message_id=uuid4(),
                event_type=body.event,
                payload={"email": email, "payload": body.payload},
                headers={},
                is_test=call.caller.is_test,
                sender="api",
            )
        return json_answer({"object": "event", "event": body.event}, status=202)

    if key is None:
        return await delivered()
    return await respond_once(call, key, body.model_dump(), answering=delivered)


async def _address(call: RequestContext, body: SentEvent) -> str:
    """Return the address of the contact that an event is about.

    Raises:
        InvalidField: none is given, both are, or it is no address.
        NotFound: the project has no such contact.
    """
    if (body.contact_id is None) == (body.email is None):
        raise InvalidField("email", "either `email` or `contact_id` is needed")
    if body.email is not None:
        try:
            return parse_address(body.email).sent
        except InvalidAddress as exc:
            raise InvalidField("email", str(exc)) from None
    try:
        contact_id = UUID(body.contact_id)
    except ValueError:
        raise InvalidField("contact_id", "must be the id of a contact") from None
    async with call.connection() as conn:
        return (await contacts.find(conn, call.caller.project_id, str(contact_id))).email


def _check_name(field: str, name: str) -> None:
    """Check that a name is none of Resend's own, and can stand in a path.

    Raises:
        InvalidField: it is one, or it cannot.
    """
    if name.startswith(RESERVED):
        raise InvalidField(field, f"cannot start with {RESERVED!r}")
    if "/" in name:
        raise InvalidField(field, "cannot contain `/`: paths name events")


def _check_payload(schema: Mapping[str, str], payload: Mapping[str, Any]) -> None:
    """Check that fields are of the types that a definition gives them; others may be anything.

    Raises:
        InvalidField: one is not; the first is named.
    """
    for name, kind in schema.items():
        if name in payload and not _is_of(kind, payload[name]):
            raise InvalidField(f"payload.{name[:100]}", f"must be a {kind}")


def _is_of(kind: str, given: Any) -> bool:
    match kind:
        case "string":
            return isinstance(given, str)
        case "boolean":
            return isinstance(given, bool)
        case "number":
            return isinstance(given, int | float) and not isinstance(given, bool)
    try:
        datetime.fromisoformat(given)
    except (TypeError, ValueError):
        return False
    return True


async def _definitions(call: RequestContext) -> list[ProjectRule]:
    async with call.connection() as conn:
        return await list_rules(conn, call.caller.project_id, RuleKind.EVENT)


async def _found(call: RequestContext) -> ProjectRule:
    """Return the event of the path, by its id or its name.

    Raises:
        NotFound: the project defines none.
    """
    given = call.path["event"]
    for one in await _definitions(call):
        if given in (str(one.id), one.subject):
            return one
    raise NotFound("event", given[:200])


def _answer(one: ProjectRule, *, status: int = 200) -> Response:
    return json_answer({"object": "event", "id": one.id}, status=status)


def _shown(one: ProjectRule) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.subject,
        "schema": one.settings["schema"],
        "created_at": stamp(one.created_at),
        "updated_at": one.settings[_UPDATED],
    }


def _endpoint(method: str, path: str, summary: str, handler: Any) -> Endpoint:
    scope = Scope.PROJECT_READ if method == "GET" else Scope.PROJECT_WRITE
    return managing_endpoint(scope, method, path, summary, handler)


_ONE = "/events/{event}"
EVENT_ENDPOINTS = (
    _endpoint("POST", "/events", "Define an event.", create),
    _endpoint("GET", "/events", "List the events that are defined.", index),
    Endpoint(
        "POST",
        "/events/send",
        Scope.EMAIL_SEND,
        "Send an event about a contact.",
        send,
        once=Once.ITSELF,
        test_keys=ForTestKeys.OWN,
    ),
    _endpoint("GET", _ONE, "Show an event.", show),
    _endpoint("PATCH", _ONE, "Change the fields of an event.", change),
    _endpoint("DELETE", _ONE, "Remove the definition of an event.", remove),
)
