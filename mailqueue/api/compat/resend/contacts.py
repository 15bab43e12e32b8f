"""Resend's API: contacts of the project, and those of a segment.

Follows resend.com/docs/api-reference/contacts and its Python client 2.51. `properties` are the
attributes of a contact. `unsubscribed` is a choice to receive no mail that can be unsubscribed
from, which is a suppression: it is shown to keys that may read suppressions, and changed by those
that may change them.
"""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.model import contact_endpoint
from mailqueue.api.compat.named_lists import newest_first
from mailqueue.api.compat.permissions import check_may_change, may
from mailqueue.api.compat.resend.contact_model import AddedContact, ChangedContact, ContactPage
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.segments import listed as listed_segment
from mailqueue.api.compat.resend.segments import segment_of
from mailqueue.api.compat.resend.topics import choose_topics
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.compat.suppressed.lists import (
    add_addresses,
    find_address,
    listed_among,
    remove_address,
)
from mailqueue.api.compat.suppressed.model import ALL_OPTIONAL, UNSUBSCRIBED
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.contacts import contacts, lists
from mailqueue.contacts.model import ContactFilter
from mailqueue.contract.contacts import Contact, ContactList
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.projects.model import Scope
from mailqueue.suppression.acceptable import new_suppression

MAX_UNPAGED = 1_000
"""Contacts in the answer to a request without `limit`."""
_TYPE = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}


async def create(call: RequestContext) -> Response:
    """Add a contact, or change that of the address, and add it to segments: all or nothing.

    A person that unsubscribed, or left a topic, and is added again stays so.
    """
    body = await body_of(call, AddedContact)
    fields, ids = body.fields(body.email), body.segment_ids()
    if "segment_id" in call.path:
        ids.append(call.id("segment_id"))
    async with call.in_one_transaction() as conn:
        segments = [await segment_of(call, one) for one in dict.fromkeys(ids)]
        try:
            made = await contacts.put(conn, call.caller.project_id, body.email, fields)
        except InvalidField as exc:
            raise _named(exc) from exc
        for one in segments:
            await _change_members(call, one, made, is_added=True)
        await _choose(call, made, body.unsubscribed or None)
        await choose_topics(call, made, body.topics or (), is_new=True)
    return json_answer({"object": "contact", "id": made.id}, status=201)


async def index(call: RequestContext) -> Response:
    """List contacts, newest first; those of a segment in the order of their ids."""
    query = page_query(call, ContactPage)
    if "segment_id" in call.path:
        return await _members(call, query, await segment_of(call, call.id("segment_id")))
    if query.segment_id is not None:
        return await _members(call, query, await segment_of(call, query.segment_id))
    most, project_id = query.limit or MAX_UNPAGED, call.caller.project_id
    async with call.connection() as conn:
        if query.before is not None:
            newer = await contacts.list_newer(
                conn, project_id, newer_than=query.before, limit=most + 1
            )
            return await _page(call, newer[:most][::-1], has_more=len(newer) > most)
        page = await contacts.list_page(
            conn, project_id, filters=ContactFilter(), before=query.after, limit=most
        )
    return await _page(call, page.data, has_more=page.next_cursor is not None)


async def show(call: RequestContext) -> Response:
    """Show a contact."""
    one = await _found(call)
    (shown,) = await _shown(call, [one])
    properties = {
        name: {"type": _TYPE.get(type(value), "object"), "value": value}
        for name, value in one.attributes.items()
    }
    return json_answer({"object": "contact", **shown, "properties": properties})


async def change(call: RequestContext) -> Response:
    """Change a contact."""
    body = await body_of(call, ChangedContact)
    fields = body.fields(body.email)
    async with call.in_one_transaction() as conn:
        one = await _found(call)
        try:
            one = await contacts.change(conn, call.caller.project_id, str(one.id), fields)
        except InvalidField as exc:
            raise _named(exc) from exc
        await _choose(call, one, body.unsubscribed)
    return json_answer({"object": "contact", "id": one.id})


async def remove(call: RequestContext) -> Response:
    """Remove a contact, and cancel what is pending for it; from an audience: only from that."""
    async with call.in_one_transaction() as conn:
        one = await _found(call)
        if "segment_id" in call.path:
            audience = await segment_of(call, call.id("segment_id"))
            await _change_members(call, audience, one, is_added=False)
        else:
            await contacts.remove(conn, call.caller.project_id, str(one.id))
    return json_answer({"object": "contact", "id": one.id, "contact": one.id, "deleted": True})


async def list_segments(call: RequestContext) -> Response:
    """List the segments that a contact was added to, newest first."""
    query = page_query(call, ListPage)
    async with call.connection() as conn:
        one = await contacts.show(conn, call.caller.project_id, call.path["contact"])
        every = await lists.list_(conn, call.caller.project_id)
    names = {each.list for each in one.lists}
    found = newest_first([each for each in every if each.name in names])
    page, has_more = page_of(found, query, lambda each: each.id)
    return list_answer([listed_segment(each) for each in page], has_more)


async def add_segment(call: RequestContext) -> Response:
    """Add a contact to a segment."""
    return await _moved(call, is_added=True)


async def remove_segment(call: RequestContext) -> Response:
    """Remove a contact from a segment."""
    return await _moved(call, is_added=False)


async def _moved(call: RequestContext, *, is_added: bool) -> Response:
    segment = await segment_of(call, call.id("segment"))
    async with call.connection() as conn:
        one = await contacts.find(conn, call.caller.project_id, call.path["contact"])
    await _change_members(call, segment, one, is_added=is_added)
    shown = {"object": "contact_segment", "id": segment.id}
    shown |= {"contact_id": one.id, "segment_id": segment.id}
    return json_answer(shown if is_added else {**shown, "deleted": True})


async def _change_members(
    call: RequestContext, segment: ContactList, one: Contact, *, is_added: bool
) -> None:
    """Add a contact to a segment or remove it.

    Raises:
        InvalidField: a condition decides who is in the segment.
    """
    if segment.condition is not None:
        raise InvalidField("segments", f"a condition decides who is in {segment.name}")
    async with call.connection() as conn:
        await lists.change_members(
            conn, call.caller.project_id, segment.name, [str(one.id)], is_added=is_added
        )


async def _members(call: RequestContext, query: ListPage, segment: ContactList) -> Response:
    if query.before is not None:
        raise InvalidField("before", "is not supported for the contacts of a segment")
    async with call.connection() as conn:
        page = await lists.members(
            conn,
            call.caller.project_id,
            segment.name,
            after=query.after,
            limit=query.limit or MAX_UNPAGED,
        )
    return await _page(call, page.data, has_more=page.next_cursor is not None)


async def _found(call: RequestContext) -> Contact:
    """Return the contact of the path, named by id or address.

    Raises:
        NotFound: there is none, or none in the audience of the path.
    """
    project_id = call.caller.project_id
    async with call.connection() as conn:
        one = await contacts.find(conn, project_id, call.path["contact"])
        if "segment_id" in call.path:
            audience = await segment_of(call, call.id("segment_id"))
            if not await lists.has_contact(conn, project_id, audience.id, one.id):
                raise NotFound("contact", one.id)
    return one


async def _choose(call: RequestContext, one: Contact, is_unsubscribed: bool | None) -> None:
    """Suppress a contact for all that can be unsubscribed from, or end that.

    Raises:
        Forbidden: the key may not change suppressions.
    """
    if is_unsubscribed is None:
        return
    check_may_change(call, Scope.SUPPRESSION_MANAGE)  # first: the answer tells what there is
    found = await find_address(call, UNSUBSCRIBED, one.email)
    if is_unsubscribed is (found is not None):
        return
    if found is not None:
        await remove_address(call, found, provider="resend")
        return
    new = new_suppression(one.email, reason="unsubscribed", category=ALL_OPTIONAL)
    await add_addresses(call, [new])


async def _page(call: RequestContext, found: Sequence[Contact], *, has_more: bool) -> Response:
    return list_answer(await _shown(call, found), has_more)


async def _shown(call: RequestContext, found: Sequence[Contact]) -> list[dict[str, Any]]:
    is_told = may(call, Scope.SUPPRESSION_MANAGE)
    emails = [one.email for one in found] if is_told else []
    gone = await listed_among(call, UNSUBSCRIBED, emails)
    return [
        {
            "id": one.id,
            "email": one.email,
            "first_name": one.first_name,
            "last_name": one.last_name,
            "created_at": stamp(one.created_at),
            "unsubscribed": one.email in gone if is_told else None,
        }
        for one in found
    ]


def _named(exc: InvalidField) -> InvalidField:
    """Return an error with Resend's name of its field. Pure."""
    return exc.named("properties") if exc.field == "attributes" else exc


_ONE = "/contacts/{contact}"
_SEGMENT = f"{_ONE}/segments/{{segment}}"
_OF_AUDIENCE = "/audiences/{segment_id}/contacts"
_ONE_OF_AUDIENCE = f"{_OF_AUDIENCE}/{{contact}}"
CONTACT_ENDPOINTS = (
    contact_endpoint("POST", "/contacts", "Add a contact.", create),
    contact_endpoint("GET", "/contacts", "List contacts.", index),
    contact_endpoint("GET", _ONE, "Show a contact.", show),
    contact_endpoint("PATCH", _ONE, "Change a contact.", change),
    contact_endpoint("DELETE", _ONE, "Remove a contact.", remove),
    contact_endpoint("GET", f"{_ONE}/segments", "List the segments of a contact.", list_segments),
    contact_endpoint("POST", _SEGMENT, "Add a contact to a segment.", add_segment),
    contact_endpoint("DELETE", _SEGMENT, "Remove a contact from a segment.", remove_segment),
    contact_endpoint(
        "GET", "/segments/{segment_id}/contacts", "List the contacts of a segment.", index
    ),
    contact_endpoint("GET", _OF_AUDIENCE, "List the contacts of an audience.", index),
    contact_endpoint("POST", _OF_AUDIENCE, "Add a contact to an audience.", create),
    contact_endpoint("GET", _ONE_OF_AUDIENCE, "Show a contact of an audience.", show),
    contact_endpoint("PATCH", _ONE_OF_AUDIENCE, "Change a contact of an audience.", change),
    contact_endpoint("DELETE", _ONE_OF_AUDIENCE, "Remove a contact from an audience.", remove),
)
