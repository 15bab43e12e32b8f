"""SendGrid's API: bounces, spam reports, unsubscribes, and unsubscribe groups."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.reading import document_of, query_of
from mailqueue.api.compat.sendgrid.faults import SendGridRefused, Wrong, invalid_document
from mailqueue.api.compat.suppressed.lists import (
    add_addresses,
    find_address,
    list_addresses,
    remove_address,
    stream_addresses,
)
from mailqueue.api.compat.suppressed.model import (
    ALL_EMAIL,
    BOUNCED,
    CHOSEN,
    COMPLAINED,
    UNSUBSCRIBED,
    AddressFilter,
    SuppressedAddress,
    SuppressedList,
)
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.responses import BadJson, json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import NotFound
from mailqueue.suppression.acceptable import new_suppression
from mailqueue.webhooks.formats.sendgrid import GROUP
from mailqueue.webhooks.formats.values import enhanced_code_in

MAX_BODY_BYTES = 256 * 1024
MAX_LISTED = 500
MAX_IN_REQUEST = 1_000
MAX_NUMBER = 2**31 - 1
_Handler = Callable[[RequestContext], Awaitable[Response]]
Body = TypeVar("Body", bound=BaseModel)
_Emails = Annotated[list[StorableText], Field(min_length=1, max_length=MAX_IN_REQUEST)]
LISTS: Mapping[str, tuple[SuppressedList, tuple[str, ...]]] = {
    "bounces": (SuppressedList(BOUNCED), ("created", "email", "reason", "status")),
    "spam_reports": (SuppressedList(COMPLAINED), ("created", "email", "ip")),
    # No address is suppressed for these: refusals of other kinds suppress none, and what is no
    # address is refused when it is sent to.
    "blocks": (SuppressedList(()), ("created", "email", "reason", "status")),
    "invalid_emails": (SuppressedList(()), ("created", "email", "reason")),
    "unsubscribes": (UNSUBSCRIBED, ("created", "email")),
}
"""The addresses of each list, and the fields that it has."""


class SuppressionQuery(RequestModel):
    """The query of a list; times are seconds since 1970."""

    start_time: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    end_time: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    limit: int = Field(default=MAX_LISTED, ge=1, le=MAX_LISTED)
    offset: int = Field(default=0, ge=0, le=MAX_NUMBER)
    email: str | None = None


class DeletedAddresses(StrictRequestModel):
    """The body of DELETE /v3/suppression/bounces and its like."""

    emails: _Emails | None = None
    delete_all: bool = False


class RecipientEmails(StrictRequestModel):
    """The body of POST /v3/asm/suppressions/global and its like."""

    recipient_emails: _Emails


def listing(name: str) -> _Handler:
    """Return the handler that lists addresses, newest first."""
    wanted, fields = LISTS[name]

    async def index(call: RequestContext) -> Response:
        refuse_subuser(call.request)
        query = query_of(call, SuppressionQuery)
        chosen = AddressFilter(
            prefix=query.email,
            since=_instant(query.start_time),
            until=_instant(query.end_time),
            limit=query.limit,
            offset=query.offset,
        )
        return json_answer(
            [_shown(one, fields) for one in await list_addresses(call, wanted, chosen)]
        )

    return index


def showing(name: str) -> _Handler:
    """Return the handler that lists one address: an empty list if it is not there."""
    wanted, fields = LISTS[name]

    async def show(call: RequestContext) -> Response:
        refuse_subuser(call.request)
        one = await find_address(call, wanted, call.path["email"])
        return json_answer([] if one is None else [_shown(one, fields)])

    return show


def removing(wanted: SuppressedList) -> _Handler:
    """Return the handler that ends the suppression of one address."""

    async def remove(call: RequestContext) -> Response:
        refuse_subuser(call.request)
        await _remove(call, wanted, [call.path["email"]])
        return no_content()

    return remove


def removing_many(wanted: SuppressedList) -> _Handler:
    """Return the handler that ends the suppressions of the addresses in the body."""

    async def remove_many(call: RequestContext) -> Response:
        refuse_subuser(call.request)
        body = await body_of(call, DeletedAddresses)
        if body.delete_all:
            why = "is not supported: name the addresses in emails"
            raise SendGridRefused([Wrong(f"delete_all {why}", "delete_all")])
        if body.emails is None:
            raise SendGridRefused([Wrong("emails is required", "emails")])
        await _remove(call, wanted, body.emails)
        return no_content()

    return remove_many


async def add_global(call: RequestContext) -> Response:
    """Suppress addresses for all mail."""
    return await _add(call, ALL_EMAIL)


async def show_global(call: RequestContext) -> Response:
    """Return an address that is unsubscribed from everything; an empty object for another."""
    refuse_subuser(call.request)
    one = await find_address(call, UNSUBSCRIBED, call.path["email"])
    return json_answer({} if one is None else {"recipient_email": one.address})


async def add_to_group(call: RequestContext) -> Response:
    """Suppress addresses for the mail of an unsubscribe group."""
    return await _add(call, category_of_path(call))


async def list_group(call: RequestContext) -> Response:
    """List the addresses that are suppressed for an unsubscribe group, newest first."""
    refuse_subuser(call.request)
    wanted = SuppressedList(CHOSEN, (category_of_path(call),))
    return await stream_addresses(call, wanted, AddressFilter(), lambda one: one.address)


async def remove_from_group(call: RequestContext) -> Response:
    """End the suppression of an address for an unsubscribe group."""
    refuse_subuser(call.request)
    await _remove(call, SuppressedList(CHOSEN, (category_of_path(call),)), [call.path["email"]])
    return no_content()


async def _add(call: RequestContext, category: str) -> Response:
    refuse_subuser(call.request)
    body = await body_of(call, RecipientEmails)
    new = [
        new_suppression(one, reason="unsubscribed", category=category)
        for one in body.recipient_emails
    ]
    await add_addresses(call, new)
    return json_answer({"recipient_emails": body.recipient_emails}, status=HTTPStatus.CREATED)


async def _remove(call: RequestContext, wanted: SuppressedList, emails: Sequence[str]) -> None:
    """End suppressions: all of them, or none.

    Raises:
        NotFound: an address is not in the list.
    """
    found: dict[int, SuppressedAddress] = {}
    for email in emails:
        one = await find_address(call, wanted, email)
        if one is None:
            raise NotFound("suppression", email[:100])
        found[one.id] = one
    async with call.in_one_transaction():
        for one in found.values():
            await remove_address(call, one, provider="sendgrid")


async def body_of(
    call: RequestContext, model: type[Body], *, max_bytes: int = MAX_BODY_BYTES
) -> Body:
    """Return the body of a request.

    Raises:
        BadJson: it is not a JSON object.
        SendGridRefused: it is invalid.
    """
    document = await document_of(call, max_bytes=max_bytes)
    if not isinstance(document, dict):
        raise BadJson("the body must be a JSON object")
    try:
        return validated(model, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None


def refuse_subuser(request: Request) -> None:
    """Refuse a request in the name of a subuser.

    Raises:
        HTTPException: 403.
    """
    if b"on-behalf-of" in headers_by_name(request):
        raise HTTPException(HTTPStatus.FORBIDDEN, "on-behalf-of: subusers are not supported")


def category_of_path(call: RequestContext) -> str:
    """Return the category of the unsubscribe group of the path.

    Raises:
        NotFound: it is not the number of a group.
    """
    given = call.path["group_id"]
    if not (given.isascii() and given.isdigit() and len(given) <= 10):
        raise NotFound("group", given[:100])
    return f"{GROUP}{int(given)}"


def _instant(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def no_content() -> Response:
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _shown(one: SuppressedAddress, fields: Sequence[str]) -> dict[str, Any]:
    values = {
        "created": int(one.created_at.timestamp()),
        "email": one.address,
        "reason": one.detail or "",
        "status": enhanced_code_in(one.detail or "") or "",
        "ip": "",
    }
    return {name: values[name] for name in fields}


def _endpoints_of(name: str) -> tuple[Endpoint, ...]:
    wanted, _ = LISTS[name]
    path, words = f"/v3/suppression/{name}", name.replace("_", " ")
    listed = suppression_endpoint("GET", path, f"List {words}.", listing(name))
    if name == "unsubscribes":  # shown and removed below /v3/asm
        return (listed,)
    one = f"{path}/{{email}}"
    return (
        listed,
        suppression_endpoint("DELETE", path, f"Remove {words}.", removing_many(wanted)),
        suppression_endpoint("GET", one, f"Find an address in {words}.", showing(name)),
        suppression_endpoint("DELETE", one, f"Remove an address from {words}.", removing(wanted)),
    )


_ASM = "/v3/asm/suppressions/global"
_OF_GROUP = "/v3/asm/groups/{group_id}/suppressions"
SUPPRESSION_ENDPOINTS = (
    *(endpoint for name in LISTS for endpoint in _endpoints_of(name)),
    suppression_endpoint("POST", _ASM, "Unsubscribe addresses from all mail.", add_global),
    suppression_endpoint("GET", f"{_ASM}/{{email}}", "Find an unsubscribed address.", show_global),
    suppression_endpoint(
        "DELETE", f"{_ASM}/{{email}}", "End an unsubscribe from all mail.", removing(UNSUBSCRIBED)
    ),
    suppression_endpoint("GET", _OF_GROUP, "List addresses of a group.", list_group),
    suppression_endpoint("POST", _OF_GROUP, "Unsubscribe addresses from a group.", add_to_group),
    suppression_endpoint(
        "DELETE", f"{_OF_GROUP}/{{email}}", "End an unsubscribe from a group.", remove_from_group
    ),
)
