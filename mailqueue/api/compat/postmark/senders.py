"""Postmark's account API: sender signatures, the addresses that the project may send from.

Follows postmarkapp.com/developer/api/signatures-api. Only administrators change them, and a project
that may send from any address has none. The number of one is made from its address; domains are in
/domains.
"""

from typing import Any
from uuid import uuid5

from starlette.responses import Response

from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.postmark.faults import ErrorCode, PostmarkRefusal
from mailqueue.api.compat.postmark.search import PostmarkPage
from mailqueue.api.compat.reading import query_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.tenants.projects import manage
from mailqueue.webhooks.formats.values import number_of


async def index(call: RequestContext) -> Response:
    """List the addresses in order."""
    query = query_of(call, PostmarkPage)
    found = await _senders(call)
    page = found[query.offset : query.offset + query.count]
    shown = [_shown(call, one) for one in page]
    return json_answer({"TotalCount": len(found), "SenderSignatures": shown})


async def show(call: RequestContext) -> Response:
    """Show an address.

    Raises:
        PostmarkRefusal: the project may not send from it.
    """
    for one in await _senders(call):
        if str(_number(call, one)) == call.path["sender_number"]:
            return json_answer(_shown(call, one))
    raise PostmarkRefusal(ErrorCode.NO_SIGNATURE, "This signature was not found.")


async def _senders(call: RequestContext) -> list[str]:
    """Return the patterns of the project that are a single address."""
    async with call.connection() as conn:
        project = await manage.find(conn, call.caller.project)
    found = {one.lower() for one in project.allowed_from or ()}
    return sorted(one for one in found if one.rpartition("@")[0] not in ("", "*"))


def _number(call: RequestContext, address: str) -> int:
    return number_of(uuid5(call.caller.project_id, f"sender {address}"))


def _shown(call: RequestContext, address: str) -> dict[str, Any]:
    return {
        "ID": _number(call, address),
        "Domain": address.rpartition("@")[2],
        "EmailAddress": address,
        "ReplyToEmailAddress": "",
        "Name": "",
        "Confirmed": True,
    }


SENDER_ENDPOINTS = (
    domain_endpoint("GET", "/senders", "List sender signatures.", index),
    domain_endpoint("GET", "/senders/{sender_number}", "Show a sender signature.", show),
)
