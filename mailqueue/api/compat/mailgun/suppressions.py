"""Mailgun's API: bounces, complaints and unsubscribes of a domain.

The lists are those of the project: they are the same for each of its domains.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import ValidationError
from starlette.responses import Response

from mailqueue.api.compat.mailgun.address_lists import (
    LISTS,
    MailgunBounce,
    MailgunList,
    MailgunPage,
    stamp,
)
from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import AddressNotFound
from mailqueue.api.compat.mailgun.form import form_of
from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.reading import document_of, query_of
from mailqueue.api.compat.suppressed.lists import (
    add_addresses,
    find_address,
    list_addresses,
    list_newer,
    remove_address,
)
from mailqueue.api.compat.suppressed.model import AddressFilter, SuppressedAddress
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.responses import BadJson, invalid_request, json_answer
from mailqueue.core.errors import InvalidField
from mailqueue.suppression.acceptable import new_suppression
from mailqueue.suppression.model import NewSuppression

MAX_BODY_BYTES = 1024 * 1024
MAX_IN_REQUEST = 1_000
_Handler = Callable[[RequestContext], Awaitable[Response]]


def listing(one: MailgunList) -> _Handler:
    """Return the handler that lists addresses, newest first."""

    async def index(call: RequestContext) -> Response:
        await check_domain(call)
        query = query_of(call, MailgunPage)
        pivot = await _pivot(call, one, query)
        chosen = AddressFilter(prefix=query.term, limit=query.limit)
        if query.page == "last":
            found = await list_newer(call, one.addresses, chosen, newer_than=0)
        elif query.page == "previous" and pivot is not None:
            found = await list_newer(call, one.addresses, chosen, newer_than=pivot)
        else:
            older = AddressFilter(prefix=query.term, limit=query.limit, older_than=pivot)
            found = await list_addresses(call, one.addresses, older)
        items = [_item(one, each) for each in found]
        return json_answer({"items": items, "paging": _paging(call, one, query, found)})

    return index


async def _pivot(call: RequestContext, one: MailgunList, query: MailgunPage) -> int | None:
    """Return the id that a page begins after, or ends before.

    Raises:
        InvalidField: the address that is given for it is not in the list.
    """
    if query.page not in ("next", "previous"):
        return None
    if query.id is not None:
        return query.id
    if query.address is None:
        return None
    found = await find_address(call, one.addresses, query.address)
    if found is None:
        raise InvalidField("address", "is not in the list")
    return found.id


def _paging(
    call: RequestContext,
    one: MailgunList,
    query: MailgunPage,
    found: Sequence[SuppressedAddress],
) -> dict[str, str]:
    origin = origin_of(call.request.scope, call.settings.tracking.public_url)
    base = f"{origin}/v3/{quote(call.path['domain'], safe='')}/{one.name}"
    shared: dict[str, Any] = {"limit": query.limit}
    if query.term is not None:
        shared["term"] = query.term

    def url(page: str, at: SuppressedAddress | None = None) -> str:
        if page in ("first", "last"):
            return f"{base}?{urlencode({'page': page, **shared})}"
        if at is not None:
            near = {"address": at.address, "id": at.id}
        elif query.page == "previous" and page == "next":
            near = {}  # before the newest: the next page is the first
        else:
            near = {} if query.id is None else {"id": query.id}
        return f"{base}?{urlencode({'page': page, **near, **shared})}"

    return {
        "first": url("first"),
        "last": url("last"),
        "next": url("next", found[-1] if found else None),
        "previous": url("previous", found[0] if found else None),
    }


def showing(one: MailgunList) -> _Handler:
    """Return the handler that shows an address of a list."""

    async def show(call: RequestContext) -> Response:
        await check_domain(call)
        return json_answer(_item(one, await _found(call, one)))

    return show


def adding(one: MailgunList) -> _Handler:
    """Return the handler that adds one address by a form, or up to 1,000 by JSON."""

    async def add(call: RequestContext) -> Response:
        await check_domain(call)
        documents = await _documents(call)
        added = await add_addresses(call, [suppression_of(one, each) for each in documents])
        if len(added) == 1:
            message = f"Address has been added to the {one.name} table"
            return json_answer({"message": message, "address": added[0]})
        message = f"{len(added)} addresses have been added to the {one.name} table"
        return json_answer({"message": message})

    return add


def removing(one: MailgunList) -> _Handler:
    """Return the handler that removes an address from a list."""

    async def remove(call: RequestContext) -> Response:
        await check_domain(call)
        found = await _found(call, one)
        await remove_address(call, found, provider="mailgun")
        return json_answer({"message": one.removed, "address": found.address})

    return remove


async def _documents(call: RequestContext) -> list[Any]:
    """Return the additions of a request.

    Raises:
        BadJson: the body is neither an object nor a list.
        InvalidField: it has none, or more than 1,000.
    """
    kind = headers_by_name(call.request).get(b"content-type", b"").lower()
    if not kind.startswith(b"application/json"):
        form = await form_of(call)
        given: dict[str, Any] = {}
        for name, text in form.fields:
            if name in given and name != "tags":
                raise InvalidField(name[:100], "may be given once")
            given[name] = [*given.get(name, []), text] if name == "tags" else text
        return [given]
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    documents = document if isinstance(document, list) else [document]
    if not 1 <= len(documents) <= MAX_IN_REQUEST:
        why = f"must be 1 to {MAX_IN_REQUEST}, got {len(documents)}"
        raise InvalidField("addresses", why)
    if not all(isinstance(each, dict) for each in documents):
        raise BadJson("each address must be a JSON object")
    return documents


def suppression_of(one: MailgunList, document: Any) -> NewSuppression:
    """Return the suppression that an addition to a list asks for. Pure.

    Raises:
        InvalidField: a field is invalid; the first one is named.
    """
    try:
        given = one.model.model_validate(document)
    except ValidationError as exc:
        raise invalid_request(exc) from None
    detail = None
    if isinstance(given, MailgunBounce):
        is_named = given.error.startswith(given.code)
        detail = given.error if is_named else f"{given.code} {given.error}"
    try:
        return new_suppression(given.address, reason=one.reason, detail=detail)
    except InvalidField as exc:
        raise exc.named({"email": "address", "detail": "error"}.get(exc.field, exc.field)) from None


async def _found(call: RequestContext, one: MailgunList) -> SuppressedAddress:
    found = await find_address(call, one.addresses, call.path["address"])
    if found is None:
        raise AddressNotFound(one.missing)
    return found


def _item(one: MailgunList, each: SuppressedAddress) -> dict[str, Any]:
    return {"address": each.address, **one.shown(each), "created_at": stamp(each.created_at)}


def _endpoints_of(one: MailgunList) -> tuple[Endpoint, ...]:
    path = f"/v3/{{domain}}/{one.name}"
    each = f"{path}/{{address}}"
    return (
        suppression_endpoint("GET", path, f"List {one.name}.", listing(one)),
        suppression_endpoint("POST", path, f"Add to {one.name}.", adding(one)),
        suppression_endpoint("GET", each, f"Show an address in {one.name}.", showing(one)),
        suppression_endpoint("DELETE", each, f"Remove an address from {one.name}.", removing(one)),
    )


SUPPRESSION_ENDPOINTS = tuple(endpoint for one in LISTS for endpoint in _endpoints_of(one))
