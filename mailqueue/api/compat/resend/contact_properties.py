"""Resend's API: contact properties, which are attributes of contacts that were named.

Follows resend.com/docs/api-reference/contact-properties. Contacts may have attributes under any
name: a property gives one a type for its readers, and a fallback in the texts of broadcasts.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import CompatHandler, managing_endpoint
from mailqueue.api.compat.postmark.ruled.store import (
    ProjectRule,
    RuleKind,
    list_rules,
    put_rule,
    remove_rule,
)
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.template_model import ResendVariable, check_fallback
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.projects.model import Scope

FALLBACK = "fallback_value"


class ChangedProperty(StrictRequestModel):
    """The body of PATCH /contact-properties/{property_id}."""

    fallback_value: StorableText | int | float | None = None


class NewProperty(ChangedProperty):
    """The body of POST /contact-properties."""

    key: Annotated[StorableText, Field(pattern="^[A-Za-z_][A-Za-z0-9_]{0,49}$")]
    type: Literal["string", "number"]


async def create(call: RequestContext) -> Response:
    """Add a property."""
    body = await body_of(call, NewProperty)
    settings = _settings(body.key, body.type, body.fallback_value)
    made = await put_rule(call, RuleKind.PROPERTY, body.key, settings)
    if made is None:
        raise Conflict(f"Contact property {body.key} already exists")
    return _answer(made, status=201)


async def index(call: RequestContext) -> Response:
    """List properties, newest first."""
    query = page_query(call, ListPage)
    found = sorted(await _properties(call), key=lambda one: one.id, reverse=True)
    page, has_more = page_of(found, query, lambda one: one.id)
    return list_answer([_shown(one) for one in page], has_more)


async def show(call: RequestContext) -> Response:
    """Show a property."""
    return json_answer({"object": "contact_property", **_shown(await _found(call))})


async def change(call: RequestContext) -> Response:
    """Change the fallback of a property."""
    body = await body_of(call, ChangedProperty)
    one = await _found(call)
    settings = _settings(one.subject, one.settings["type"], body.fallback_value)
    changed = await put_rule(call, RuleKind.PROPERTY, one.subject, settings, rule_id=one.id)
    if changed is None:
        raise NotFound("contact property", one.id)
    return _answer(changed)


async def remove(call: RequestContext) -> Response:
    """Remove a property; attributes of contacts stay."""
    one = await _found(call)
    await remove_rule(call, RuleKind.PROPERTY, one)
    return json_answer({"object": "contact_property", "id": one.id, "deleted": True})


async def fallbacks_of(call: RequestContext) -> dict[str, Any]:
    """Return the fallbacks of the project's properties that have one, by name."""
    found = {one.subject: one.settings[FALLBACK] for one in await _properties(call)}
    return {name: value for name, value in found.items() if value is not None}


async def _properties(call: RequestContext) -> list[ProjectRule]:
    async with call.connection() as conn:
        return await list_rules(conn, call.caller.project_id, RuleKind.PROPERTY)


async def _found(call: RequestContext) -> ProjectRule:
    """Return the property of the path.

    Raises:
        NotFound: the project has none of the id.
    """
    property_id: UUID = call.id("property_id")
    for one in await _properties(call):
        if one.id == property_id:
            return one
    raise NotFound("contact property", property_id)


def _settings(key: str, kind: str, fallback: str | float | None) -> dict[str, Any]:
    """Return what is stored of a property.

    Raises:
        InvalidField: the fallback is not of its type, or cannot stand in a text.
    """
    if fallback is not None:
        described = ResendVariable.model_construct(key=key, type=kind, fallback_value=fallback)
        check_fallback(FALLBACK, described)
    return {"type": kind, FALLBACK: fallback}


def _answer(one: ProjectRule, *, status: int = 200) -> Response:
    return json_answer({"object": "contact_property", "id": one.id}, status=status)


def _shown(one: ProjectRule) -> dict[str, Any]:
    return {
        "id": one.id,
        "key": one.subject,
        "type": one.settings["type"],
        FALLBACK: one.settings[FALLBACK],
        "created_at": stamp(one.created_at),
    }


def _endpoint(method: str, path: str, summary: str, handler: CompatHandler) -> Endpoint:
    scope = Scope.CONTACTS_READ if method == "GET" else Scope.CONTACTS_WRITE
    return managing_endpoint(scope, method, path, summary, handler)


_PATH = "/contact-properties"
_ONE = f"{_PATH}/{{property_id}}"
PROPERTY_ENDPOINTS = (
    _endpoint("POST", _PATH, "Add a contact property.", create),
    _endpoint("GET", _PATH, "List contact properties.", index),
    _endpoint("GET", _ONE, "Show a contact property.", show),
    _endpoint("PATCH", _ONE, "Change a contact property.", change),
    _endpoint("DELETE", _ONE, "Remove a contact property.", remove),
)
