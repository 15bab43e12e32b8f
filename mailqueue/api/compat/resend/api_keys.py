"""Resend's API: API keys.

Follows resend.com/docs/api-reference/api-keys. A key with full access has every scope, so only such
a key can create it; one with sending access has `email:send` alone.
"""

from typing import Annotated, Any, Literal

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
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import EVERY_SCOPE, ApiKey, Scope

_Name = Annotated[StorableText, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
_Permission = Literal["full_access", "sending_access"]
_SCOPES = {"full_access": EVERY_SCOPE, "sending_access": frozenset({Scope.EMAIL_SEND})}


class ResendNewKey(StrictRequestModel):
    """The body of POST /api-keys."""

    name: _Name
    permission: _Permission = "full_access"
    domain_id: StorableText | None = None


class ResendNamedKey(StrictRequestModel):
    """The body of PATCH /api-keys/{key_id}."""

    name: _Name


async def create(call: RequestContext) -> Response:
    """Create a key, which is returned only in this response."""
    body = await body_of(call, ResendNewKey)
    if body.domain_id is not None:
        why = "a key sends from every address that its project may send from"
        raise InvalidField("domain_id", why)
    made = await add_key(call, body.name, _SCOPES[body.permission])
    return json_answer({"id": made.record.id, "token": made.key.reveal()}, status=201)


async def index(call: RequestContext) -> Response:
    """List the keys that are valid, newest first."""
    query = page_query(call, ListPage)
    page, has_more = page_of(await all_keys(call), query, lambda one: one.id)
    return list_answer([_listed(one) for one in page], has_more)


async def change(call: RequestContext) -> Response:
    """Rename a key."""
    one = await key_in_path(call)
    body = await body_of(call, ResendNamedKey)
    await rename_key(call, one, body.name)
    return json_answer({"object": "api_key", "id": one.id})


async def remove(call: RequestContext) -> Response:
    """Revoke a key: it is refused from now on."""
    one = await key_in_path(call)
    await revoke_key(call, one)
    return json_answer({"object": "api_key", "id": one.id, "deleted": True})


def _listed(one: ApiKey) -> dict[str, Any]:
    used = one.last_used_at
    return {
        "id": one.id,
        "name": one.name,
        "created_at": stamp(one.created_at),
        "last_used_at": None if used is None else stamp(used),
    }


_ONE = "/api-keys/{key_id}"
KEY_ENDPOINTS = (
    key_endpoint("POST", "/api-keys", "Create an API key.", create),
    key_endpoint("GET", "/api-keys", "List API keys.", index),
    key_endpoint("PATCH", _ONE, "Rename an API key.", change),
    key_endpoint("DELETE", _ONE, "Revoke an API key.", remove),
)
