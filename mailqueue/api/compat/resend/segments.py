"""Resend's API: segments, and their older name audiences, which are lists of contacts.

Follows resend.com/docs/api-reference/segments.
"""

from typing import Any
from uuid import UUID

from starlette.responses import Response

from mailqueue.api.compat.model import contact_endpoint
from mailqueue.api.compat.named_lists import (
    NameOfList,
    add_named,
    name_of,
    newest_first,
    rename,
)
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contacts import lists
from mailqueue.contract.contacts import ContactList
from mailqueue.core.errors import NotFound


class NamedSegment(StrictRequestModel):
    """The body of POST /segments and PATCH /segments/{segment_id}."""

    name: NameOfList


async def create(call: RequestContext) -> Response:
    """Add a segment: a list whose name is made from that of the segment."""
    body = await body_of(call, NamedSegment)
    made = await add_named(call, body.name, otherwise="segment")
    return json_answer({"object": _kind(call), "id": made.id, "name": name_of(made)}, status=201)


async def index(call: RequestContext) -> Response:
    """List segments, newest first."""
    query = page_query(call, ListPage)
    async with call.connection() as conn:
        found = await lists.list_(conn, call.caller.project_id)
    page, has_more = page_of(newest_first(found), query, lambda one: one.id)
    return list_answer([listed(one) for one in page], has_more)


async def show(call: RequestContext) -> Response:
    """Show a segment."""
    one = await segment_of(call, call.id("segment_id"))
    return json_answer({"object": _kind(call), **listed(one)})


async def change(call: RequestContext) -> Response:
    """Rename a segment; the name of its list stays."""
    body = await body_of(call, NamedSegment)
    one = await segment_of(call, call.id("segment_id"))
    await rename(call, one, body.name)
    return json_answer({"object": _kind(call), "id": one.id})


async def remove(call: RequestContext) -> Response:
    """Remove a segment; its contacts stay."""
    one = await segment_of(call, call.id("segment_id"))
    async with call.connection() as conn:
        await lists.remove(conn, call.caller.project_id, one.name, by=call.by)
    return json_answer({"object": _kind(call), "id": one.id, "deleted": True})


async def segment_of(call: RequestContext, segment_id: UUID) -> ContactList:
    """Return a segment.

    Raises:
        NotFound: the project has no such list.
    """
    async with call.connection() as conn:
        try:
            return await lists.find(conn, call.caller.project_id, segment_id)
        except NotFound:
            raise NotFound(_kind(call), segment_id) from None


def listed(one: ContactList) -> dict[str, Any]:
    """Return a segment in the form of a list. Pure."""
    return {"id": one.id, "name": name_of(one), "created_at": stamp(one.created_at)}


def _kind(call: RequestContext) -> str:
    """Return the word for the object: that of the path."""
    return "audience" if call.request.scope["path"].startswith("/audiences") else "segment"


def _endpoints_of(kind: str) -> tuple[Any, ...]:
    path, one = f"/{kind}s", f"/{kind}s/{{segment_id}}"
    an = "an" if kind == "audience" else "a"
    return (
        contact_endpoint("POST", path, f"Add {an} {kind}.", create),
        contact_endpoint("GET", path, f"List {kind}s.", index),
        contact_endpoint("GET", one, f"Show {an} {kind}.", show),
        contact_endpoint("DELETE", one, f"Remove {an} {kind}.", remove),
    )


SEGMENT_ENDPOINTS = (
    *_endpoints_of("segment"),
    contact_endpoint("PATCH", "/segments/{segment_id}", "Rename a segment.", change),
    *_endpoints_of("audience"),
)
