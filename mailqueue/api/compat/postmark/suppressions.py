"""Postmark's API: the suppressions of a message stream."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_pascal
from starlette.responses import Response

from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.postmark.faults import invalid_document
from mailqueue.api.compat.postmark.model import STREAMS, NoStream
from mailqueue.api.compat.postmark.times import QueryTime, last_of
from mailqueue.api.compat.reading import document_of, query_of
from mailqueue.api.compat.suppressed.lists import (
    AlsoBounced,
    add_addresses,
    find_address,
    remove_address,
    stream_addresses,
)
from mailqueue.api.compat.suppressed.model import (
    BOUNCED,
    CHOSEN,
    COMPLAINED,
    EVERY_REASON,
    AddressFilter,
    SuppressedAddress,
    SuppressedList,
)
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.api.http.validation import validated
from mailqueue.contract.suppression import SuppressionReason
from mailqueue.core.errors import InvalidField
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import category_of, new_suppression

MAX_BODY_BYTES = 64 * 1024
MAX_IN_REQUEST = 50
_BY_REASON = {
    "HardBounce": BOUNCED,
    "SpamComplaint": COMPLAINED,
    "ManualSuppression": CHOSEN,
}
_BY_ORIGIN = {
    "Recipient": tuple(one for one in EVERY_REASON if one is not SuppressionReason.MANUAL),
    "Customer": (SuppressionReason.MANUAL,),
    "Admin": (),
}
_NOT_DELETED = "You do not have the required authority to change this suppression."
_NO_ADDRESS = "An invalid email address was provided."


class DumpQuery(RequestModel):
    """The query of a dump; `count` and `offset`, which Postmark's library adds, have no effect
    there either.
    """

    suppressionreason: Literal["HardBounce", "SpamComplaint", "ManualSuppression"] | None = None
    origin: Literal["Recipient", "Customer", "Admin"] | None = None
    emailaddress: StorableText | None = None
    fromdate: QueryTime | None = None
    todate: QueryTime | None = None
    count: int | None = None
    offset: int | None = None


class _Pascal(StrictRequestModel):
    model_config = ConfigDict(alias_generator=to_pascal)


class SuppressedEntry(_Pascal):
    """An address to suppress, or to send to again."""

    email_address: StorableText


class SuppressedEntries(_Pascal):
    """The body of requests that change suppressions."""

    suppressions: list[SuppressedEntry] = Field(min_length=1, max_length=MAX_IN_REQUEST)


async def dump(call: RequestContext) -> Response:
    """Return all addresses that a stream does not send to, newest first."""
    query = query_of(call, DumpQuery)
    named = _BY_REASON.get(query.suppressionreason or "", EVERY_REASON)
    of_origin = _BY_ORIGIN.get(query.origin or "", EVERY_REASON)
    wanted = SuppressedList(
        tuple(one for one in named if one in of_origin), await _categories(call)
    )
    chosen = AddressFilter(
        email=query.emailaddress,
        since=None if query.fromdate is None else query.fromdate.at,
        until=None if query.todate is None else last_of(query.todate),
    )
    return await stream_addresses(call, wanted, chosen, _shown, field="Suppressions")


async def add(call: RequestContext) -> Response:
    """Suppress addresses for the mail of a stream."""
    stream = category_of_stream(call.path["stream"])

    async def added(email: str) -> dict[str, Any]:
        new = new_suppression(email, reason=SuppressionReason.MANUAL, category=stream)
        await add_addresses(call, [new])
        return _outcome(email, "Suppressed")

    return await _each(call, added)


async def remove(call: RequestContext) -> Response:
    """End the suppressions that keep a stream from sending to addresses."""
    wanted = SuppressedList(EVERY_REASON, await _categories(call))
    complained = SuppressedList(COMPLAINED, wanted.categories)

    async def removed(email: str) -> dict[str, Any]:
        if await find_address(call, complained, email) is not None:
            return _outcome(email, "Failed", _NOT_DELETED)
        one = await find_address(call, wanted, email)
        try:
            if one is not None:
                await remove_address(call, one, provider="postmark")
        except AlsoBounced:
            return _outcome(email, "Failed", _NOT_DELETED)
        return _outcome(email, "Deleted")

    return await _each(call, removed)


async def _each(
    call: RequestContext, change: Callable[[str], Awaitable[dict[str, Any]]]
) -> Response:
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        body = validated(SuppressedEntries, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None
    outcomes = []
    async with call.in_one_transaction():
        for one in body.suppressions:
            try:
                outcomes.append(await change(one.email_address))
            except InvalidField:
                outcomes.append(_outcome(one.email_address, "Failed", _NO_ADDRESS))
    return json_answer({"Suppressions": outcomes})


def category_of_stream(stream: str) -> str:
    """Return the category of a stream. Pure.

    Raises:
        NoStream: it is no stream.
    """
    if stream == "outbound":
        return "transactional"
    category = STREAMS.get(stream) or stream
    try:
        if category in ("inbound", ""):
            raise InvalidField("category", "no stream")
        return category_of(category)
    except InvalidField:
        raise NoStream("category", "does not exist on this server") from None


async def _categories(call: RequestContext) -> tuple[str, ...]:
    """Return the categories whose suppressions keep a stream from sending."""
    category = category_of_stream(call.path["stream"])
    async with call.connection() as conn:
        return await entries.stopping_categories(conn, call.caller.project, category)


def _outcome(email: str, status: str, message: str | None = None) -> dict[str, Any]:
    return {"EmailAddress": email, "Status": status, "Message": message}


def _shown(one: SuppressedAddress) -> dict[str, Any]:
    reason = next(name for name, reasons in _BY_REASON.items() if one.reason in reasons)
    is_own = one.reason is SuppressionReason.MANUAL
    return {
        "EmailAddress": one.address,
        "SuppressionReason": reason,
        "Origin": "Customer" if is_own else "Recipient",
        "CreatedAt": stamp(one.created_at),
    }


def stamp(at: datetime) -> str:
    """Return a time in Postmark's format. Pure."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


_PATH = "/message-streams/{stream}/suppressions"
SUPPRESSION_ENDPOINTS = (
    suppression_endpoint("GET", f"{_PATH}/dump", "List suppressed addresses.", dump),
    suppression_endpoint("POST", _PATH, "Suppress up to 50 addresses.", add),
    suppression_endpoint("POST", f"{_PATH}/delete", "End up to 50 suppressions.", remove),
)
