"""Resend's API: the addresses that receive no mail at all."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, model_validator
from starlette.responses import Response

from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.resend.pages import body_of
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.compat.suppressed.lists import (
    MAX_ID,
    add_addresses,
    find_address,
    list_addresses,
    list_newer,
    remove_address,
)
from mailqueue.api.compat.suppressed.model import (
    ALL_EMAIL,
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
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.suppression.acceptable import new_suppression

MAX_IN_REQUEST = 100
_ALL = SuppressedList(EVERY_REASON, (ALL_EMAIL,))
_BY_ORIGIN = {
    "bounce": SuppressedList(BOUNCED, (ALL_EMAIL,)),
    "complaint": SuppressedList(COMPLAINED, (ALL_EMAIL,)),
    "manual": SuppressedList(CHOSEN, (ALL_EMAIL,)),
}
_Emails = Annotated[list[StorableText], Field(min_length=1, max_length=MAX_IN_REQUEST)]


class SuppressionPage(RequestModel):
    """The query of GET /suppressions."""

    limit: int = Field(default=20, ge=1, le=MAX_IN_REQUEST)
    after: UUID | None = None
    before: UUID | None = None
    origin: Literal["bounce", "complaint", "manual"] | None = None


class NewAddress(StrictRequestModel):
    """The body of POST /suppressions."""

    email: StorableText


class NewAddresses(StrictRequestModel):
    """The body of POST /suppressions/batch/add."""

    emails: _Emails


class GoneAddresses(RequestModel):
    """The body of POST /suppressions/batch/remove: addresses, or ids."""

    emails: _Emails | None = None
    ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_IN_REQUEST)] | None = None

    @model_validator(mode="after")
    def _has_one(self) -> "GoneAddresses":
        if (self.emails is None) == (self.ids is None):
            raise ValueError("give either emails or ids")
        return self


async def index(call: RequestContext) -> Response:
    """List suppressed addresses, newest first."""
    query = query_of(call, SuppressionPage)
    if query.after is not None and query.before is not None:
        raise InvalidField("before", "cannot be given together with `after`")
    wanted = _ALL if query.origin is None else _BY_ORIGIN[query.origin]
    chosen = AddressFilter(
        limit=query.limit + 1, older_than=None if query.after is None else _number(query.after)
    )
    if query.before is None:
        found = await list_addresses(call, wanted, chosen)
        page = found[: query.limit]
    else:
        found = await list_newer(call, wanted, chosen, newer_than=_number(query.before))
        page = found[-query.limit :]
    has_more = len(found) > query.limit
    data = [_shown(one) for one in page]
    return json_answer({"object": "list", "has_more": has_more, "data": data})


async def show(call: RequestContext) -> Response:
    """Show one address."""
    return json_answer({"object": "suppression", **_shown(await _found(call))})


async def add(call: RequestContext) -> Response:
    """Suppress an address."""
    body = await body_of(call, NewAddress)
    (one,) = await _added(call, [body.email])
    return json_answer(one)


async def add_batch(call: RequestContext) -> Response:
    """Suppress up to 100 addresses."""
    body = await body_of(call, NewAddresses)
    return json_answer({"data": await _added(call, body.emails)})


async def remove(call: RequestContext) -> Response:
    """End the suppression of an address."""
    one = await _found(call)
    await remove_address(call, one, provider="resend")
    return json_answer(_removed(one))


async def remove_batch(call: RequestContext) -> Response:
    """End the suppressions of up to 100 addresses; the others of them are not in the answer."""
    body = await body_of(call, GoneAddresses)
    if body.ids is not None:
        chosen = AddressFilter(ids=[_number(one) for one in body.ids], limit=MAX_IN_REQUEST)
        found = await list_addresses(call, _ALL, chosen)
    else:
        looked = [await find_address(call, _ALL, one) for one in body.emails or []]
        found = list({one.id: one for one in looked if one is not None}.values())
    async with call.in_one_transaction():
        for one in found:
            await remove_address(call, one, provider="resend")
    return json_answer({"data": [_removed(one) for one in found]})


async def _added(call: RequestContext, emails: Sequence[str]) -> list[dict[str, Any]]:
    added = await add_addresses(call, [new_suppression(one) for one in emails])
    found = [await find_address(call, _ALL, one) for one in dict.fromkeys(added)]
    return [_named(one) for one in found if one is not None]


async def _found(call: RequestContext) -> SuppressedAddress:
    """Return the address of the path, which is named by id or by itself.

    Raises:
        NotFound: it is not suppressed.
    """
    given = call.path["suppression"]
    try:
        chosen = AddressFilter(ids=[_number(UUID(given))], limit=1)
    except ValueError:
        chosen = AddressFilter(email=given, limit=1)
    found = await list_addresses(call, _ALL, chosen)
    if not found:
        raise NotFound("suppression", given[:100])
    return found[0]


def _number(suppression_id: UUID) -> int:
    """Return the number of a suppression; -1, which none has, for the id of something else."""
    return suppression_id.int if suppression_id.int <= MAX_ID else -1


def _named(one: SuppressedAddress) -> dict[str, Any]:
    return {"object": "suppression", "id": UUID(int=one.id)}


def _removed(one: SuppressedAddress) -> dict[str, Any]:
    return {**_named(one), "deleted": True}


def _shown(one: SuppressedAddress) -> dict[str, Any]:
    origin = next(name for name, each in _BY_ORIGIN.items() if one.reason in each.reasons)
    return {
        "id": UUID(int=one.id),
        "email": one.address,
        "origin": origin,
        "source_id": one.email_id,
        "created_at": stamp(one.created_at),
    }


SUPPRESSION_ENDPOINTS = (
    suppression_endpoint("GET", "/suppressions", "List suppressed addresses.", index),
    suppression_endpoint("POST", "/suppressions", "Suppress an address.", add),
    suppression_endpoint(
        "POST", "/suppressions/batch/add", "Suppress up to 100 addresses.", add_batch
    ),
    suppression_endpoint(
        "POST", "/suppressions/batch/remove", "End up to 100 suppressions.", remove_batch
    ),
    suppression_endpoint("GET", "/suppressions/{suppression}", "Show a suppressed address.", show),
    suppression_endpoint("DELETE", "/suppressions/{suppression}", "End a suppression.", remove),
)
