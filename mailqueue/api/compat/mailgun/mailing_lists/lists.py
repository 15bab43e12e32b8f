"""Mailgun's API: mailing lists, which are lists of contacts named after their address.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/mailing-lists.
"""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.mailboxes import split_mailbox
from mailqueue.api.compat.mailgun.address_lists import stamp
from mailqueue.api.compat.mailgun.domains import check_name
from mailqueue.api.compat.mailgun.faults import AddressNotFound, MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import Form, form_of
from mailqueue.api.compat.mailgun.mailing_lists.naming import (
    address_of,
    name_of,
    stored_text,
    texts_of,
)
from mailqueue.api.compat.mailgun.pages import MAX_LISTED, MailgunNamedPage, page_of, paging_of
from mailqueue.api.compat.mailgun.recipients import mailboxes_of
from mailqueue.api.compat.model import contact_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contacts import lists
from mailqueue.contract.contacts import ContactList
from mailqueue.core.errors import Conflict, InvalidField, NotFound

MAX_LISTS = 1_000
MAX_COUNTED = 10
"""Lists of a page, whose members are counted: a condition is compared with all contacts."""
_FIELDS = ("address", "name", "description", "access_level", "reply_preference")
_ONLY = {"access_level": "readonly", "reply_preference": "sender"}
"""Options with the value that describes what is done here."""
_FORM = "must be lower-case letters, digits, - and _ before the @, with 62 characters in all"


class MailgunListPage(RequestModel):
    """The query of the pages of lists; `address` is the one that a page begins after."""

    limit: int = Field(default=MAX_LISTED, ge=1, le=MAX_LISTED)
    page: Literal["", "first", "next", "previous", "prev", "last"] = ""
    address: StorableText | None = None


class MailgunListQuery(RequestModel):
    """The query of GET /v3/lists."""

    limit: int = Field(default=MAX_COUNTED, ge=1, le=MAX_COUNTED)
    skip: int = Field(default=0, ge=0, le=MAX_LISTS)
    address: StorableText | None = None


async def index(call: RequestContext) -> Response:
    """List mailing lists by name of the list, or the one of an address."""
    query = query_of(call, MailgunListQuery)
    found = await _lists(call)
    if query.address is not None:
        found = [one for one in found if one.name == name_of(query.address or "")]
    page = found[query.skip : query.skip + query.limit]
    return json_answer({"items": await _all_shown(call, page), "total_count": len(found)})


async def pages(call: RequestContext) -> Response:
    """List mailing lists page by page."""
    query = query_of(call, MailgunListPage)
    pivot = None if query.address is None else name_of(query.address) or ""
    limit = min(query.limit, MAX_COUNTED)
    chosen = MailgunNamedPage.model_construct(limit=limit, page=query.page, p=pivot)
    try:
        page = page_of(await _lists(call), chosen, lambda one: one.name)
    except InvalidField as exc:
        raise exc.named("address") from None
    shown = await _all_shown(call, page)
    given = chosen.model_copy(update={"p": query.address})
    paging = paging_of(call, given, [one["address"] for one in shown], pivot="address")
    return json_answer({"items": shown, "paging": paging})


async def show(call: RequestContext) -> Response:
    """Show a mailing list."""
    (shown,) = await _all_shown(call, [await list_of(call)])
    return json_answer({"list": shown})


async def create(call: RequestContext) -> Response:
    """Add a mailing list."""
    form = await _form(call)
    address = form.one("address")
    if address is None:
        raise MissingParameter("address")
    name = name_of(address)
    if name is None:
        raise NamedParameter("address", _FORM)
    await check_name(call, (address_of(name) or "").rpartition("@")[2])
    given = {"description": stored_text(form.one("name") or "", form.one("description") or "")}
    async with call.connection() as conn:
        try:
            made = await lists.add(conn, call.caller.project_id, name, given=given, by=call.by)
        except Conflict:
            why = f"there is a mailing list of this address already: {address_of(name)}"
            raise NamedParameter("address", why) from None
        except InvalidField as exc:
            raise renamed(exc) from exc
    (shown,) = await _all_shown(call, [made])
    return json_answer({"message": "Mailing list has been created", "list": shown})


async def change(call: RequestContext) -> Response:
    """Change name and description of a mailing list."""
    form = await _form(call)
    found = await list_of(call)
    address = form.one("address")
    if address is not None and name_of(address) != found.name:
        raise NamedParameter("address", "cannot be changed: add another list")
    had = texts_of(found.description)
    name, description = (
        before if (text := _text(form, field)) is None else text
        for field, before in zip(("name", "description"), had, strict=True)
    )
    given = {"description": stored_text(name, description)}
    async with call.connection() as conn:
        try:
            made = await lists.change(
                conn, call.caller.project_id, found.name, given=given, by=call.by
            )
        except InvalidField as exc:
            raise renamed(exc) from exc
    (shown,) = await _all_shown(call, [made])
    return json_answer({"message": "Mailing list has been updated", "list": shown})


async def remove(call: RequestContext) -> Response:
    """Remove a mailing list; its members stay contacts."""
    found = await list_of(call)
    async with call.connection() as conn:
        await lists.remove(conn, call.caller.project_id, found.name, by=call.by)
    return json_answer(
        {"message": "Mailing list has been removed", "address": address_of(found.name)}
    )


async def list_of(call: RequestContext) -> ContactList:
    """Return the list whose address is in the path.

    Raises:
        AddressNotFound: the project has none.
    """
    given = call.path["list_address"]
    name = name_of(given)
    try:
        if name is not None:
            async with call.connection() as conn:
                return await lists.get(conn, call.caller.project_id, name)
    except NotFound:
        pass
    raise AddressNotFound(f"Mailing list {given[:320]} not found")


async def shown_of(call: RequestContext, one: ContactList) -> dict[str, Any]:
    """Return a mailing list in Mailgun's form."""
    (shown,) = await _all_shown(call, [one])
    return shown


async def check_no_list(call: RequestContext, form: Form) -> None:
    """Raise InvalidField for a message to the address of a mailing list of the path's domain.

    Raises:
        InvalidField: it would go to the address, not to the members.
    """
    end = f"@{call.path['domain'].lower()}"
    for field in ("to", "cc", "bcc"):
        if not any(end in text.lower() for text in form.all(field)):
            continue  # nearly every message
        names = {name_of(split_mailbox(box)[1]) for box in mailboxes_of(form, field)}
        for one in await _lists(call):
            if one.name in names:
                why = f"{address_of(one.name)} is a mailing list: its members are sent to by"
                raise InvalidField(field, f"{why} POST /v1/send, to {one.name}")


def renamed(exc: InvalidField) -> InvalidField:
    """Return an error with Mailgun's name of its field. Pure."""
    names = {"list": "address", "name": "address"}
    return NamedParameter(names.get(exc.field, exc.field), exc.why)


async def _lists(call: RequestContext) -> list[ContactList]:
    """Return the lists that have the name of an address."""
    async with call.connection() as conn:
        found = await lists.list_(conn, call.caller.project_id)
    return [one for one in found if address_of(one.name) is not None]


async def _all_shown(call: RequestContext, found: Sequence[ContactList]) -> list[dict[str, Any]]:
    async with call.connection() as conn:
        sizes = [await lists.size(conn, call.caller.project_id, one.id) for one in found]
    shown = []
    for one, size in zip(found, sizes, strict=True):
        name, description = texts_of(one.description)
        shown.append(
            {
                "address": address_of(one.name),
                "name": name,
                "description": description,
                **_ONLY,
                "members_count": size,
                "created_at": stamp(one.created_at),
            }
        )
    return shown


async def _form(call: RequestContext) -> Form:
    form = await form_of(call)
    form.check_names(_FIELDS)
    for option, value in _ONLY.items():
        if (form.one(option) or value) != value:
            raise NamedParameter(option, f"must be {value}")
    return form


def _text(form: Form, field: str) -> str | None:
    """Return the text of a field, which may be empty; None where it is not given. Pure."""
    is_given = any(name == field for name, _ in form.fields)
    return (form.one(field) or "") if is_given else None


_PATH = "/v3/lists"
_ONE = f"{_PATH}/{{list_address}}"
LIST_ENDPOINTS = (
    contact_endpoint("GET", _PATH, "List mailing lists.", index),
    contact_endpoint("GET", f"{_PATH}/pages", "List mailing lists page by page.", pages),
    contact_endpoint("POST", _PATH, "Add a mailing list.", create),
    contact_endpoint("GET", _ONE, "Show a mailing list.", show),
    contact_endpoint("PUT", _ONE, "Change a mailing list.", change),
    contact_endpoint("DELETE", _ONE, "Remove a mailing list.", remove),
)
