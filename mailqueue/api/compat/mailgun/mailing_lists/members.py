"""Mailgun's API: the members of a mailing list, which are contacts of the project.

Name and variables are those of the contact, the same in each list.
"""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote, urlencode
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.mailboxes import split_mailbox
from mailqueue.api.compat.mailgun.faults import AddressNotFound, MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import Form, form_of
from mailqueue.api.compat.mailgun.mailing_lists.fields import (
    ADDED,
    CHANGED,
    MANY,
    checked_flag,
    fields_of,
    many_fields,
    named,
    shown,
)
from mailqueue.api.compat.mailgun.mailing_lists.lists import list_of, shown_of
from mailqueue.api.compat.mailgun.pages import MAX_LISTED
from mailqueue.api.compat.model import contact_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contacts import contacts, lists
from mailqueue.contacts.importing import put_all
from mailqueue.contract.contacts import Contact, ContactDetail, ContactList
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField, NotFound

MAX_SKIPPED = 1_000
_Subscribed = Literal["yes", "no", "true", "false", "True", "False"]
_NONE = ("no", "false", "False")


class MailgunMemberPage(RequestModel):
    """The query of the pages of members; a page begins after the contact `id`."""

    limit: int = Field(default=MAX_LISTED, ge=1, le=MAX_LISTED)
    page: Literal["", "first", "next"] = ""
    address: StorableText | None = None
    id: UUID | None = None
    subscribed: _Subscribed | None = None


class MailgunMemberQuery(RequestModel):
    """The query of GET /v3/lists/{list_address}/members."""

    limit: int = Field(default=MAX_LISTED, ge=1, le=MAX_LISTED)
    skip: int = Field(default=0, ge=0, le=MAX_SKIPPED)
    subscribed: _Subscribed | None = None


async def index(call: RequestContext) -> Response:
    """List members in the order of their ids."""
    query = query_of(call, MailgunMemberQuery)
    one = await list_of(call)
    if query.subscribed in _NONE:
        return json_answer({"items": [], "total_count": 0})
    project_id = call.caller.project_id
    async with call.connection() as conn:
        most = query.skip + query.limit
        found = await lists.members(conn, project_id, one.name, after=None, limit=most)
        total = await lists.size(conn, project_id, one.id)
    items = [shown(each) for each in found.data[query.skip :]]
    return json_answer({"items": items, "total_count": total})


async def pages(call: RequestContext) -> Response:
    """List members page by page, forwards."""
    query = query_of(call, MailgunMemberPage)
    one = await list_of(call)
    found: list[Contact] = []
    if query.subscribed not in _NONE:
        after = await _pivot(call, query)
        async with call.connection() as conn:
            page = await lists.members(
                conn, call.caller.project_id, one.name, after=after, limit=query.limit
            )
        found = list(page.data)
    paging = _paging(call, query, found)
    return json_answer({"items": [shown(each) for each in found], "paging": paging})


async def show(call: RequestContext) -> Response:
    """Show a member."""
    member = await _found(call, await list_of(call))
    return json_answer({"member": member})


async def add(call: RequestContext) -> Response:
    """Add a member; with `upsert` one that is there is changed."""
    form = await _form(call, ADDED)
    given = form.one("address")
    if given is None:
        raise MissingParameter("address")
    address = _address(given)
    is_upsert = checked_flag(form, "upsert", otherwise=False)
    fields = fields_of(form, split_mailbox(given)[0])
    project_id = call.caller.project_id
    async with call.in_one_transaction() as conn:
        one = await list_of(call)
        if not is_upsert and await _is_member(call, one, address):
            raise NamedParameter("address", f"there is a member {address} already")
        try:
            made = await contacts.put(conn, project_id, address, fields)
            await lists.change_members(conn, project_id, one.name, [str(made.id)], is_added=True)
        except InvalidField as exc:
            raise named(exc) from exc
        member = await _shown(call, one, address)
    return json_answer({"message": "Mailing list member has been created", "member": member})


async def add_many(call: RequestContext) -> Response:
    """Add up to 1,000 members: all of them, or none; without `upsert` known contacts stay."""
    form = await _form(call, MANY)
    is_upsert = checked_flag(form, "upsert", otherwise=False)
    checked_flag(form, "subscribed", otherwise=True, must_be=True)
    wanted = await call.in_turn(lambda: many_fields(form.one("members")))
    project_id = call.caller.project_id
    async with call.in_one_transaction() as conn:
        one = await list_of(call)
        if not is_upsert:
            known = await contacts.are_known(conn, project_id, [each["email"] for each in wanted])
            wanted = [
                {"email": each["email"]} if is_known else each
                for each, is_known in zip(wanted, known, strict=True)
            ]
        try:
            await put_all(conn, project_id, wanted, list_name=one.name)
        except InvalidField as exc:
            raise named(exc) from exc
    document = await shown_of(call, one)
    return json_answer({"message": "Mailing list has been updated", "list": document})


async def change(call: RequestContext) -> Response:
    """Change a member, which is the contact in each of its lists."""
    form = await _form(call, CHANGED)
    given = form.one("address")
    fields = fields_of(form, "")
    if given is not None:
        fields["email"] = _address(given)
    async with call.in_one_transaction() as conn:
        one = await list_of(call)
        member = await _found(call, one)
        try:
            made = await contacts.change(conn, call.caller.project_id, member["address"], fields)
        except InvalidField as exc:
            raise named(exc) from exc
        member = await _shown(call, one, made.email)
    return json_answer({"message": "Mailing list member has been updated", "member": member})


async def remove(call: RequestContext) -> Response:
    """Remove a member from the list; the contact stays."""
    async with call.in_one_transaction() as conn:
        one = await list_of(call)
        address = (await _found(call, one))["address"]
        try:
            await lists.change_members(
                conn, call.caller.project_id, one.name, [address], is_added=False
            )
        except InvalidField as exc:
            raise named(exc) from exc
    message = "Mailing list member has been deleted"
    return json_answer({"message": message, "member": {"address": address}})


async def _form(call: RequestContext, names: tuple[str, ...]) -> Form:
    form = await form_of(call)
    form.check_names(names)
    return form


def _address(given: str) -> str:
    address = split_mailbox(given)[1]
    try:
        return parse_address(address).sent
    except InvalidAddress as exc:
        raise NamedParameter("address", str(exc)) from None


async def _found(call: RequestContext, one: ContactList) -> dict[str, Any]:
    """Return the member of the path.

    Raises:
        AddressNotFound: the list has no such member.
    """
    given = call.path["member"]
    if "@" in given and await _is_member(call, one, given):
        return await _shown(call, one, given)
    raise AddressNotFound(f"Mailing list member {given[:320]} not found")


async def _is_member(call: RequestContext, one: ContactList, address: str) -> bool:
    project_id = call.caller.project_id
    async with call.connection() as conn:
        try:
            contact = await contacts.find(conn, project_id, address)
        except NotFound:
            return False
        return await lists.has_contact(conn, project_id, one.id, contact.id)


async def _shown(call: RequestContext, one: ContactList, address: str) -> dict[str, Any]:
    async with call.connection() as conn:
        found: ContactDetail = await contacts.show(conn, call.caller.project_id, address)
    is_pending = any(each.list == one.name and each.is_pending for each in found.lists)
    return shown(found) | {"subscribed": not is_pending}


async def _pivot(call: RequestContext, query: MailgunMemberPage) -> UUID | None:
    """Return the id that a page begins after.

    Raises:
        InvalidField: the address that is given for it is none of a contact.
    """
    if query.page != "next" or query.id is not None:
        return query.id if query.page == "next" else None
    if query.address is None:
        return None
    try:
        if "@" in query.address:
            async with call.connection() as conn:
                return (await contacts.find(conn, call.caller.project_id, query.address)).id
    except NotFound:
        pass
    raise InvalidField("address", "is not in the list")


def _paging(
    call: RequestContext, query: MailgunMemberPage, found: list[Contact]
) -> Mapping[str, str]:
    origin = origin_of(call.request.scope, call.settings.tracking.public_url)
    base = f"{origin}{quote(call.request.scope['path'].rstrip('/'))}"
    shared: dict[str, Any] = {"limit": query.limit}
    if query.subscribed is not None:
        shared["subscribed"] = query.subscribed
    near: dict[str, Any] = {} if query.id is None else {"id": query.id}
    if found:
        near = {"address": found[-1].email, "id": found[-1].id}
    return {
        "first": f"{base}?{urlencode({'page': 'first', **shared})}",
        "next": f"{base}?{urlencode({'page': 'next', **near, **shared})}",
    }


_PATH = "/v3/lists/{list_address}/members"
_ONE = f"{_PATH}/{{member}}"
MEMBER_ENDPOINTS = (
    contact_endpoint("GET", _PATH, "List the members of a list.", index),
    contact_endpoint("GET", f"{_PATH}/pages", "List members page by page.", pages),
    contact_endpoint("POST", _PATH, "Add a member.", add),
    contact_endpoint("POST", f"{_PATH}.json", "Add up to 1,000 members.", add_many),
    contact_endpoint("GET", _ONE, "Show a member.", show),
    contact_endpoint("PUT", _ONE, "Change a member.", change),
    contact_endpoint("DELETE", _ONE, "Remove a member from a list.", remove),
)
