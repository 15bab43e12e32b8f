"""SendGrid's API: API keys, and the scopes of the key that asks.

Follows twilio.com/docs/sendgrid/api-reference/api-keys and .../api-key-permissions.
"""

from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.keys import (
    MAX_NAME_CHARACTERS,
    add_key,
    all_keys,
    key_in_path,
    rename_key,
    revoke_key,
)
from mailqueue.api.compat.model import key_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.scopes import NEEDED, names_of, scopes_of
from mailqueue.api.compat.sendgrid.suppressions import body_of, no_content, refuse_subuser
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.projects.keys.manage import MAX_ACTIVE
from mailqueue.projects.model import EVERY_SCOPE, ApiKey

_Name = Annotated[StorableText, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
MAX_SCOPES = 500
_Scopes = Annotated[list[StorableText], Field(min_length=1, max_length=MAX_SCOPES)]


class SendGridKeyName(StrictRequestModel):
    """The body of PATCH /v3/api_keys/{key_id}."""

    name: _Name


class SendGridKey(SendGridKeyName):
    """The body of POST /v3/api_keys."""

    scopes: _Scopes | None = None


class SendGridKeyChange(SendGridKeyName):
    """The body of PUT /v3/api_keys/{key_id}; a key may be shown without scopes."""

    scopes: Annotated[list[StorableText], Field(max_length=MAX_SCOPES)] | None = None


class SendGridKeyQuery(RequestModel):
    """The query of GET /v3/api_keys."""

    limit: int = Field(default=MAX_ACTIVE, ge=1, le=MAX_ACTIVE)


async def create(call: RequestContext) -> Response:
    """Create a key, which is returned only in this response; without scopes it has all."""
    refuse_subuser(call.request)
    body = await body_of(call, SendGridKey)
    scopes = EVERY_SCOPE if body.scopes is None else scopes_of(body.scopes)
    made = await add_key(call, body.name, scopes)
    document = {"api_key": made.key.reveal(), **_with_scopes(made.record)}
    return json_answer(document, status=HTTPStatus.CREATED)


async def index(call: RequestContext) -> Response:
    """List the keys that are valid, newest first."""
    refuse_subuser(call.request)
    query = query_of(call, SendGridKeyQuery)
    found = await all_keys(call)
    return json_answer({"result": [_named(one) for one in found[: query.limit]]})


async def show(call: RequestContext) -> Response:
    """Show a key with its scopes."""
    refuse_subuser(call.request)
    return json_answer({"result": [_with_scopes(await key_in_path(call))]})


async def rename(call: RequestContext) -> Response:
    """Change the name of a key."""
    refuse_subuser(call.request)
    one = await key_in_path(call)
    body = await body_of(call, SendGridKeyName)
    return json_answer(_named(await rename_key(call, one, body.name)))


async def change(call: RequestContext) -> Response:
    """Change the name of a key; its scopes stay, and others are refused."""
    refuse_subuser(call.request)
    one = await key_in_path(call)
    body = await body_of(call, SendGridKeyChange)
    shown = set(one.scopes) & NEEDED.keys()  # others have no name here
    if body.scopes is not None and scopes_of(body.scopes) != shown:
        raise InvalidField("scopes", "the scopes of a key never change: create another key")
    return json_answer(_with_scopes(await rename_key(call, one, body.name)))


async def remove(call: RequestContext) -> Response:
    """Revoke a key: it is refused from now on."""
    refuse_subuser(call.request)
    await revoke_key(call, await key_in_path(call))
    return no_content()


async def show_scopes(call: RequestContext) -> Response:
    """Show what the key that asks may do."""
    refuse_subuser(call.request)
    return json_answer({"scopes": names_of(call.caller.scopes)})


def _named(one: ApiKey) -> dict[str, Any]:
    return {"api_key_id": one.id, "name": one.name}


def _with_scopes(one: ApiKey) -> dict[str, Any]:
    return {**_named(one), "scopes": names_of(one.scopes)}


_PATH = "/v3/api_keys"
_ONE = f"{_PATH}/{{key_id}}"
KEY_ENDPOINTS = (
    key_endpoint("POST", _PATH, "Create an API key.", create),
    key_endpoint("GET", _PATH, "List API keys.", index),
    key_endpoint("GET", _ONE, "Show an API key.", show),
    key_endpoint("PATCH", _ONE, "Rename an API key.", rename),
    key_endpoint("PUT", _ONE, "Rename an API key, whose scopes stay.", change),
    key_endpoint("DELETE", _ONE, "Revoke an API key.", remove),
    Endpoint(
        "GET",
        "/v3/scopes",
        None,
        "Show the scopes of the key.",
        show_scopes,
        test_keys=ForTestKeys.OWN,
    ),
)
