"""Resend's API: segments, and their older name audiences, which are lists of contacts.

Follows resend.com/docs/api-reference/segments. The name of a segment is the description of its
list, because the names of lists are short; a list without a description is shown by its name.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID, uuid4

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import contact_endpoint
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contacts import lists
from mailqueue.contract.contacts import ContactList
from mailqueue.core.errors import Conflict, InvalidField, NotFound

MAX_NAME_CHARACTERS = 50
_OTHER = re.compile(r"[^a-z0-9]+")
SegmentName = Annotated[StorableText, Field(min_length=1, max_length=500)]


class NamedSegment(StrictRequestModel):
    """The body of POST /segments and PATCH /segments/{segment_id}."""

    name: SegmentName


async def create(call: RequestContext) -> Response:
    """Add a segment: a list whose name is made from that of the segment."""
    body = await body_of(call, NamedSegment)
    made = await _added(call, body.name)
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
    given = {"description": body.name}
    async with call.connection() as conn:
        try:
            await lists.change(conn, call.caller.project_id, one.name, given=given, by=call.by)
        except InvalidField as exc:
            raise _named(exc) from exc
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


def newest_first(found: Sequence[ContactList]) -> list[ContactList]:
    """Return lists, the newest first. Pure."""
    return sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)


def name_of(one: ContactList) -> str:
    """Return the name of a segment. Pure."""
    return one.description or one.name


def listed(one: ContactList) -> dict[str, Any]:
    """Return a segment in the form of a list. Pure."""
    return {"id": one.id, "name": name_of(one), "created_at": stamp(one.created_at)}


def list_name(name: str) -> str:
    """Return the name of the list for a segment: its letters and digits in lower case. Pure."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _OTHER.sub("-", plain).strip("-")[:MAX_NAME_CHARACTERS].rstrip("-") or "segment"


async def _added(call: RequestContext, name: str) -> ContactList:
    """Return the new list; where the name is taken already, digits are added to it."""
    short, given = list_name(name), {"description": name}
    project_id = call.caller.project_id
    async with call.connection() as conn:
        try:
            return await lists.add(conn, project_id, short, given=given, by=call.by)
        except Conflict:
            longer = f"{short}-{uuid4().hex[:12]}"
            return await lists.add(conn, project_id, longer, given=given, by=call.by)
        except InvalidField as exc:
            raise _named(exc) from exc


def _named(exc: InvalidField) -> InvalidField:
    return exc.named("name") if exc.field == "description" else exc


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
