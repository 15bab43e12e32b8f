"""SendGrid's API: definitions of custom fields, which are attributes of contacts that were named.

Follows twilio.com/docs/sendgrid/api-reference/custom-fields. Contacts may have attributes under any
name: a definition gives one a type for its readers. The id of a definition is its name, by which
contacts have the field. They are the properties of contacts of Resend's API.
"""

from typing import Annotated, Any, Literal

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
from mailqueue.api.compat.sendgrid.marketing.contact_model import OTHER_ADDRESSES, RESERVED
from mailqueue.api.compat.sendgrid.suppressions import body_of, no_content, refuse_subuser
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.projects.model import Scope

_TYPES = {"Text": "string", "Number": "number"}
_SHOWN = {"string": "Text", "number": "Number"}
_NAMES = ("first_name", "last_name", "email", OTHER_ADDRESSES, *RESERVED)
_PATH = "/v3/marketing/field_definitions"


class NewFieldDefinition(StrictRequestModel):
    """The body of POST /v3/marketing/field_definitions."""

    name: Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]{0,49}$")]
    field_type: Literal["Text", "Number", "Date"]


async def create(call: RequestContext) -> Response:
    """Add a definition."""
    refuse_subuser(call.request)
    body = await body_of(call, NewFieldDefinition)
    if body.field_type == "Date":
        raise InvalidField("field_type", "is Text or Number here: a date is a text")
    if body.name in _NAMES:
        raise InvalidField("name", "is a reserved field")
    settings = {"type": _TYPES[body.field_type], "fallback_value": None}
    made = await put_rule(call, RuleKind.PROPERTY, body.name, settings)
    if made is None:
        raise InvalidField("name", "is the name of another field")
    return json_answer({**_shown(made), "_metadata": {"self": _url(call, f"/{body.name}")}})


async def index(call: RequestContext) -> Response:
    """List definitions by name, and the reserved fields."""
    refuse_subuser(call.request)
    found = await _definitions(call)
    reserved = [
        {"id": name, "name": name, "field_type": "Text", "read_only": False} for name in _NAMES
    ]
    return json_answer(
        {
            "custom_fields": [_shown(one) for one in found],
            "reserved_fields": reserved,
            "_metadata": {"self": _url(call, ""), "count": len(found)},
        }
    )


async def remove(call: RequestContext) -> Response:
    """Remove a definition; attributes of contacts stay."""
    refuse_subuser(call.request)
    name = call.path["field_name"]
    for one in await _definitions(call):
        if one.subject == name:
            await remove_rule(call, RuleKind.PROPERTY, one)
            return no_content()
    raise NotFound("field", name[:100])


async def _definitions(call: RequestContext) -> list[ProjectRule]:
    async with call.connection() as conn:
        return await list_rules(conn, call.caller.project_id, RuleKind.PROPERTY)


def _shown(one: ProjectRule) -> dict[str, Any]:
    return {"id": one.subject, "name": one.subject, "field_type": _SHOWN[one.settings["type"]]}


def _url(call: RequestContext, path: str) -> str:
    return origin_of(call.request.scope, call.settings.tracking.public_url) + _PATH + path


def _endpoint(method: str, path: str, summary: str, handler: CompatHandler) -> Endpoint:
    scope = Scope.CONTACTS_READ if method == "GET" else Scope.CONTACTS_WRITE
    return managing_endpoint(scope, method, path, summary, handler)


FIELD_ENDPOINTS = (
    _endpoint("POST", _PATH, "Define a custom field.", create),
    _endpoint("GET", _PATH, "List custom fields.", index),
    _endpoint("DELETE", f"{_PATH}/{{field_name}}", "Remove a definition of a field.", remove),
)
