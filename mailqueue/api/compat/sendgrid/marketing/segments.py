"""SendGrid's API: segments, which are lists whose contacts a condition selects.

Follows twilio.com/docs/sendgrid/api-reference/segmenting-contacts-v2. `query_dsl` is the condition,
in the language of ours; contacts are counted when a segment is shown. Counting reads all contacts
of the project: what takes too long is answered as not counted yet.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, TypeVar
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.analytics import spans
from mailqueue.api.compat.model import contact_endpoint
from mailqueue.api.compat.named_lists import add_named, name_of, rename
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.marketing.contact_model import Ids
from mailqueue.api.compat.sendgrid.marketing.named import (
    MAX_LISTED,
    all_of,
    check_free,
    find_of,
    sample_of,
)
from mailqueue.api.compat.sendgrid.suppressions import body_of, refuse_subuser
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contacts import lists
from mailqueue.contract.contacts import ContactList
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn

LONGEST_READING = timedelta(seconds=5)
"""The time that a statement may take which counts or shows contacts of segments."""
T = TypeVar("T")
_PATH = "/v3/marketing/segments/2.0"
_Name = Annotated[StorableText, Field(min_length=1, max_length=100)]
_Condition = Annotated[StorableText, Field(min_length=1, max_length=10_000)]


class ChangedSegment(RequestModel):
    """The body of PATCH /v3/marketing/segments/2.0/{segment_id}; what is left out stays."""

    name: _Name | None = None
    query_dsl: _Condition | None = None


class NewSegment(RequestModel):
    """The body of POST /v3/marketing/segments/2.0."""

    name: _Name
    query_dsl: _Condition
    parent_list_ids: Annotated[list[UUID], Field(max_length=0)] | None = None


class SegmentsQuery(RequestModel):
    """The query of GET /v3/marketing/segments/2.0; a segment has no parent list."""

    ids: Ids | None = None
    parent_list_ids: StorableText | None = None
    no_parent_list_id: bool = False
    page_size: int = Field(default=MAX_LISTED, ge=1, le=1_000)


class SegmentQuery(RequestModel):
    """The query of GET /v3/marketing/segments/2.0/{segment_id}."""

    contacts_sample: bool = False


async def create(call: RequestContext) -> Response:
    """Add a segment; each has a name of its own."""
    refuse_subuser(call.request)
    body = await body_of(call, NewSegment)
    async with call.in_one_transaction():
        await check_free(call, body.name, is_segment=True)
        made = await add_named(call, body.name, otherwise="segment")
        made = await _conditioned(call, made, body.query_dsl)
    document = await _whole(call, made, has_sample=True)
    return json_answer(document, status=HTTPStatus.CREATED)


async def index(call: RequestContext) -> Response:
    """List the newest segments."""
    refuse_subuser(call.request)
    query = query_of(call, SegmentsQuery)
    found = [
        one
        for one in await all_of(call, is_segment=True)
        if query.ids is None or one.id in query.ids
    ]
    if query.parent_list_ids is not None and not query.no_parent_list_id:
        found = []
    page = found[: min(query.page_size, MAX_LISTED)]
    return json_answer({"results": await _all_listed(call, page)})


async def show(call: RequestContext) -> Response:
    """Show a segment, with some of its contacts where that is asked for."""
    refuse_subuser(call.request)
    query = query_of(call, SegmentQuery)
    one = await _found(call)
    return json_answer(await _whole(call, one, has_sample=query.contacts_sample))


async def change(call: RequestContext) -> Response:
    """Rename a segment, or change its condition."""
    refuse_subuser(call.request)
    await _found(call)  # what is not there is said first
    body = await body_of(call, ChangedSegment)
    async with call.in_one_transaction():
        one = await _found(call)
        if body.name is not None and body.name != name_of(one):
            await check_free(call, body.name, is_segment=True)
            one = await rename(call, one, body.name)
        if body.query_dsl is not None:
            one = await _conditioned(call, one, body.query_dsl)
    return json_answer(await _whole(call, one, has_sample=True))


async def remove(call: RequestContext) -> Response:
    """Remove a segment; its contacts stay."""
    refuse_subuser(call.request)
    one = await _found(call)
    async with call.connection() as conn:
        await lists.remove(conn, call.caller.project_id, one.name, by=call.by)
    return json_answer({}, status=HTTPStatus.ACCEPTED)


async def _conditioned(call: RequestContext, one: ContactList, condition: str) -> ContactList:
    """Return a list after its condition was set.

    Raises:
        InvalidField: it is no condition (`query_dsl`).
    """
    given = {"condition": condition, "description": name_of(one)}
    async with call.connection() as conn:
        try:
            return await lists.change(
                conn, call.caller.project_id, one.name, given=given, by=call.by
            )
        except InvalidField as exc:
            raise exc.named("query_dsl" if exc.field == "condition" else exc.field) from exc


async def _found(call: RequestContext) -> ContactList:
    """Return the segment of the path.

    Raises:
        NotFound: the project has no such list, or no condition selects its contacts.
    """
    return await find_of(call, call.id("segment_id"), is_segment=True)


async def _all_listed(call: RequestContext, found: Sequence[ContactList]) -> list[dict[str, Any]]:
    sizes = await _in_time(call, partial(_sizes, call, found))
    url = origin_of(call.request.scope, call.settings.tracking.public_url) + _PATH
    return [
        {
            "id": one.id,
            "name": name_of(one),
            "contacts_count": size,
            "created_at": one.created_at,
            "updated_at": one.updated_at,
            "sample_updated_at": one.updated_at,
            "next_sample_update": "",
            "parent_list_ids": [],
            "query_version": "2",
            "status": {"query_validation": "VALID" if sizes else "PENDING"},
            "_metadata": {"self": f"{url}/{one.id}"},
        }
        for one, size in zip(found, sizes or [0] * len(found), strict=True)
    ]


async def _whole(call: RequestContext, one: ContactList, *, has_sample: bool) -> dict[str, Any]:
    (document,) = await _all_listed(call, [one])
    sample = await _in_time(call, partial(sample_of, call, one)) if has_sample else None
    return {**document, "query_dsl": one.condition, "contacts_sample": sample or []}


async def _sizes(call: RequestContext, found: Sequence[ContactList], conn: Conn) -> list[int]:
    return await lists.sizes(conn, call.caller.project_id, [one.id for one in found])


async def _in_time(call: RequestContext, read: Callable[[Conn], Awaitable[T]]) -> T | None:
    """Return what is read of contacts; None where a statement takes over LONGEST_READING."""
    async with call.connection() as conn:
        try:
            async with conn.transaction(), spans.reading(conn, LONGEST_READING):
                return await read(conn)
        except InvalidField:
            return None


_ONE = f"{_PATH}/{{segment_id}}"
SEGMENT_ENDPOINTS = (
    contact_endpoint("POST", _PATH, "Add a segment.", create),
    contact_endpoint("GET", _PATH, "List segments.", index),
    contact_endpoint("GET", _ONE, "Show a segment.", show),
    contact_endpoint("PATCH", _ONE, "Change a segment.", change),
    contact_endpoint("DELETE", _ONE, "Remove a segment.", remove),
)
