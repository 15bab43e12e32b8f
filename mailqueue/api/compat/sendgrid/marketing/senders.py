"""SendGrid's API: senders, the addresses that the project may send from.

Follows twilio.com/docs/sendgrid/api-reference/senders, …/sender-identities-api and
…/sender-verification. Administrators decide which addresses a project may send from: a sender is
verified by what they decided, and one of another address is not added. A single send copies its
sender when it is scheduled, so that none is locked.
"""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import CompatHandler, domain_endpoint
from mailqueue.api.compat.postmark.ruled.store import ProjectRule, RuleKind, remove_rule
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.faults import SendGridRefused, Wrong
from mailqueue.api.compat.sendgrid.marketing.sender_model import (
    CHANGED_AT,
    SenderFields,
    VerifiedSenderFields,
    sender_shown,
    verified_sender_shown,
)
from mailqueue.api.compat.sendgrid.suppressions import body_of, no_content, refuse_subuser
from mailqueue.api.compat.signatures import (
    Signature,
    address_of_signature,
    may_send_from,
    number_of_signature,
    put_signature,
    signatures_of,
)
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField, NotFound

MAX_LISTED = 1_000
_NEEDED = "This parameter is required."
_Shown = Callable[[int, Signature], dict[str, Any]]
_Fields = type[SenderFields] | type[VerifiedSenderFields]


class VerifiedSendersQuery(RequestModel):
    """The query of GET /v3/verified_senders; `last_seen_id` is the id of the last one before."""

    limit: int = Field(default=MAX_LISTED, ge=1, le=MAX_LISTED)
    last_seen_id: int | None = Field(default=None, alias="lastseenid")
    id: int | None = None


async def index(call: RequestContext) -> Response:
    """List senders by address."""
    refuse_subuser(call.request)
    found = await signatures_of(call)
    return json_answer([sender_shown(number_of_signature(call, one), one) for one in found])


async def show(call: RequestContext) -> Response:
    """Show a sender."""
    refuse_subuser(call.request)
    one = await _found(call)
    return json_answer(sender_shown(number_of_signature(call, one), one))


async def index_verified(call: RequestContext) -> Response:
    """List senders by address, in pages."""
    refuse_subuser(call.request)
    query = query_of(call, VerifiedSendersQuery)
    found = [(number_of_signature(call, one), one) for one in await signatures_of(call)]
    if query.id is not None:
        found = [each for each in found if each[0] == query.id]
    if query.last_seen_id is not None:
        numbers = [number for number, _ in found]
        if query.last_seen_id not in numbers:
            raise InvalidField("lastSeenID", "there is no such sender")
        found = found[numbers.index(query.last_seen_id) + 1 :]
    return json_answer({"results": [verified_sender_shown(*one) for one in found[: query.limit]]})


async def steps_completed(call: RequestContext) -> Response:
    """Show whether a sender or a domain may be used to send."""
    refuse_subuser(call.request)
    found = await signatures_of(call)
    verified = any(one.is_confirmed for one in found)
    return json_answer({"results": {"sender_verified": verified}})


def creating(fields: _Fields, shown: _Shown) -> CompatHandler:
    """Return the handler that adds a sender of an address that the project may send from."""

    async def create(call: RequestContext) -> Response:
        refuse_subuser(call.request)
        body = await body_of(call, fields)
        try:
            made = await _added(call, body)
        except InvalidField as exc:
            raise _exact(exc) from exc
        return json_answer(shown(number_of_signature(call, made), made), status=HTTPStatus.CREATED)

    return create


def changing(fields: _Fields, shown: _Shown) -> CompatHandler:
    """Return the handler that changes what is said of a sender; its address stays."""

    async def change(call: RequestContext) -> Response:
        refuse_subuser(call.request)
        one = await _found(call)
        body = await body_of(call, fields)
        try:
            made = await _changed(call, one, body)
        except InvalidField as exc:
            raise _exact(exc) from exc
        return json_answer(shown(number_of_signature(call, made), made))

    return change


async def remove(call: RequestContext) -> Response:
    """Remove a sender.

    Raises:
        InvalidField: administrators named its address.
    """
    refuse_subuser(call.request)
    one = await _found(call)
    if one.rule is None:
        why = f"administrators allow mail from {one.address}: it is theirs to remove"
        raise InvalidField("id", why)
    await remove_rule(call, RuleKind.SENDER, one.rule)
    return no_content()


async def signature_of(call: RequestContext, number: int | str) -> Signature | None:
    """Return the sender of a number; None where the project has none of it."""
    for one in await signatures_of(call):
        if str(number_of_signature(call, one)) == str(number):
            return one
    return None


async def _found(call: RequestContext) -> Signature:
    """Return the sender of the path.

    Raises:
        NotFound: the project has none of that number.
    """
    one = await signature_of(call, call.path["sender_number"])
    if one is None:
        raise NotFound("sender", call.path["sender_number"][:100])
    return one


async def _added(call: RequestContext, body: SenderFields | VerifiedSenderFields) -> Signature:
    given, field = body.settings(), body.field_of("from_email")
    if body.address is None:
        raise InvalidField(field, _NEEDED)
    address = address_of_signature(field, body.address)
    if not given.get("nickname"):
        raise InvalidField("nickname", _NEEDED)
    if not given.get("reply_to"):
        raise InvalidField(body.field_of("reply_to"), _NEEDED)
    if not await may_send_from(call, address):
        raise InvalidField(field, f"{address} is no sender: administrators decide it")
    return await _put(call, address, given, None, field)


async def _changed(
    call: RequestContext, one: Signature, body: SenderFields | VerifiedSenderFields
) -> Signature:
    given, field = body.settings(), body.field_of("from_email")
    if body.address is not None and address_of_signature(field, body.address) != one.address:
        raise InvalidField(field, f"stays {one.address}: add a sender of the other address")
    return await _put(call, one.address, given, one.rule, field)


async def _put(
    call: RequestContext,
    address: str,
    given: dict[str, str],
    rule: ProjectRule | None,
    field: str,
) -> Signature:
    made = await put_signature(call, address, {**given, CHANGED_AT: int(time.time())}, rule)
    if made is None:
        raise InvalidField(field, "already exists")
    return made


def _exact(exc: InvalidField) -> SendGridRefused:
    """Return a refusal that names the field as it is: `from_email` is one of these bodies."""
    return SendGridRefused([Wrong(exc.why, exc.field)])


def _endpoints_of(path: str) -> tuple[Endpoint, ...]:
    one = f"{path}/{{sender_number}}"
    create, change = creating(SenderFields, sender_shown), changing(SenderFields, sender_shown)
    return (
        domain_endpoint("POST", path, "Add a sender.", create),
        domain_endpoint("GET", path, "List senders.", index),
        domain_endpoint("GET", one, "Show a sender.", show),
        domain_endpoint("PATCH", one, "Change a sender.", change),
        domain_endpoint("DELETE", one, "Remove a sender.", remove),
    )


_VERIFIED = "/v3/verified_senders"
_STEPS = f"{_VERIFIED}/steps_completed"
_VERIFIED_ONE = f"{_VERIFIED}/{{sender_number}}"
_create = creating(VerifiedSenderFields, verified_sender_shown)
_change = changing(VerifiedSenderFields, verified_sender_shown)
SENDER_ENDPOINTS = (
    *_endpoints_of("/v3/marketing/senders"),
    *_endpoints_of("/v3/senders"),
    domain_endpoint("POST", _VERIFIED, "Add a verified sender.", _create),
    domain_endpoint("GET", _VERIFIED, "List verified senders.", index_verified),
    domain_endpoint("GET", _STEPS, "Show whether a sender is verified.", steps_completed),
    domain_endpoint("PATCH", _VERIFIED_ONE, "Change a verified sender.", _change),
    domain_endpoint("DELETE", _VERIFIED_ONE, "Remove a verified sender.", remove),
)
