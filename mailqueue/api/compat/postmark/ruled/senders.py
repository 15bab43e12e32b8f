"""Postmark's account API: sender signatures, the addresses that the project may send from.

Follows postmarkapp.com/developer/api/signatures-api. Administrators decide which addresses a
project may send from, so that a signature is confirmed by what they decided: one of another address
is not added. A signature gives mail from its address, through this API, a name and a reply address.
Addresses that administrators named are shown too, also without a signature.
"""

from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_pascal
from starlette.responses import Response

from mailqueue.api.compat.domains import add_domain
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.postmark.domains import (
    add_successor,
    detailed,
    domains_by_name,
    spf_of,
)
from mailqueue.api.compat.postmark.faults import ErrorCode, PostmarkRefusal, error_of
from mailqueue.api.compat.postmark.reading import body_of
from mailqueue.api.compat.postmark.ruled.store import ProjectRule, RuleKind, remove_rule
from mailqueue.api.compat.postmark.search import PostmarkPage
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.signatures import (
    Signature,
    address_of_signature,
    may_send_from,
    number_of_signature,
    put_signature,
    signatures_of,
)
from mailqueue.api.emails.schema import StorableLine, StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import InvalidField

MAX_NAME = 320


class ChangedSignature(StrictRequestModel):
    """The body of PUT /senders/{sender_number}."""

    model_config = ConfigDict(alias_generator=to_pascal)

    name: StorableLine = Field(min_length=1, max_length=MAX_NAME)
    reply_to_email: StorableText | None = None
    return_path_domain: StorableText | None = None

    def settings(self) -> dict[str, str]:
        """Return what is stored of a signature.

        Raises:
            InvalidField: the reply address is none, or a return path is given.
        """
        if self.return_path_domain:
            why = "is not supported: bounces have one address here"
            raise InvalidField("ReturnPathDomain", why)
        reply_to = self.reply_to_email
        return {
            "name": self.name,
            "reply_to": address_of_signature("ReplyToEmail", reply_to) if reply_to else "",
        }


class NewSignature(ChangedSignature):
    """The body of POST /senders."""

    from_email: StorableText


async def index(call: RequestContext) -> Response:
    """List the signatures by address."""
    query = query_of(call, PostmarkPage)
    found = await signatures_of(call)
    page = found[query.offset : query.offset + query.count]
    shown = [_shown(call, one) for one in page]
    return json_answer({"TotalCount": len(found), "SenderSignatures": shown})


async def show(call: RequestContext) -> Response:
    """Show a signature with the records of its domain."""
    return json_answer(await _detailed(call, await _found(call)))


async def create(call: RequestContext) -> Response:
    """Add a signature of an address that the project may send from."""
    body = await body_of(call, NewSignature)
    address, settings = address_of_signature("FromEmail", body.from_email), body.settings()
    if any(one.address == address for one in await signatures_of(call)):
        raise PostmarkRefusal(ErrorCode.SIGNATURE_EXISTS, "This signature already exists.")
    if not await may_send_from(call, address):
        why = f"The project may not send from {address}: administrators decide it."
        raise PostmarkRefusal(ErrorCode.NO_SENDER, why)
    return json_answer(await _detailed(call, await _put(call, address, settings)))


async def change(call: RequestContext) -> Response:
    """Change the name and the reply address of a signature."""
    body = await body_of(call, ChangedSignature)
    one, settings = await _found(call), body.settings()
    return json_answer(await _detailed(call, await _put(call, one.address, settings, one.rule)))


async def remove(call: RequestContext) -> Response:
    """Remove a signature.

    Raises:
        PostmarkRefusal: administrators named the address.
    """
    one = await _found(call)
    if one.rule is None:
        why = f"Administrators allow mail from {one.address}: it is theirs to remove."
        raise PostmarkRefusal(ErrorCode.NOT_ALLOWED, why)
    await remove_rule(call, RuleKind.SENDER, one.rule)
    return json_answer(error_of(ErrorCode.OK, f"Signature {one.address} removed."))


async def verify_spf(call: RequestContext) -> Response:
    """Look up the SPF record of a signature's domain now; nothing is stored."""
    one = await _found(call)
    return json_answer({**_shown(call, one), **await spf_of(call, one.domain)})


async def request_dkim(call: RequestContext) -> Response:
    """Add the next DKIM key of a signature's domain, or its first."""
    one = await _found(call)
    keys = (await domains_by_name(call)).get(one.domain)
    if keys is None:
        await add_domain(call, one.domain)
    else:
        await add_successor(call, keys)
    return json_answer(await _detailed(call, one))


async def _put(
    call: RequestContext, address: str, settings: dict[str, str], rule: ProjectRule | None = None
) -> Signature:
    made = await put_signature(call, address, settings, rule)
    if made is None:
        raise PostmarkRefusal(ErrorCode.SIGNATURE_EXISTS, "This signature already exists.")
    return made


async def _found(call: RequestContext) -> Signature:
    """Return the signature whose number is in the path.

    Raises:
        PostmarkRefusal: the project has none of that number.
    """
    for one in await signatures_of(call):
        if str(number_of_signature(call, one)) == call.path["sender_number"]:
            return one
    raise PostmarkRefusal(ErrorCode.NO_SIGNATURE, "This signature was not found.")


def _shown(call: RequestContext, one: Signature) -> dict[str, Any]:
    return {
        "ID": number_of_signature(call, one),
        "Domain": one.domain,
        "EmailAddress": one.address,
        "ReplyToEmailAddress": one.settings.get("reply_to", ""),
        "Name": one.settings.get("name", ""),
        "Confirmed": one.is_confirmed,
    }


async def _detailed(call: RequestContext, one: Signature) -> dict[str, Any]:
    keys = (await domains_by_name(call)).get(one.domain)
    return {**({} if keys is None else detailed(call, keys)), **_shown(call, one)}


_PATH = "/senders"
_ONE = f"{_PATH}/{{sender_number}}"
SENDER_ENDPOINTS = (
    domain_endpoint("GET", _PATH, "List sender signatures.", index),
    domain_endpoint("POST", _PATH, "Add a sender signature.", create),
    domain_endpoint("GET", _ONE, "Show a sender signature.", show),
    domain_endpoint("PUT", _ONE, "Change a sender signature.", change),
    domain_endpoint("DELETE", _ONE, "Remove a sender signature.", remove),
    domain_endpoint("POST", f"{_ONE}/verifyspf", "Look up the SPF record.", verify_spf),
    domain_endpoint("POST", f"{_ONE}/requestnewdkim", "Add the next DKIM key.", request_dkim),
)
