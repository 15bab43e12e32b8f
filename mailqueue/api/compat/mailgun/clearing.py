"""Mailgun's API: remove all addresses of a list.

Each is removed by itself, as by a request for it: a request that was interrupted is repeated.
"""

from contextlib import suppress

from starlette.responses import Response

from mailqueue.api.compat.mailgun.address_lists import LISTS, MailgunList
from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.model import CompatHandler, suppression_endpoint
from mailqueue.api.compat.suppressed.lists import AlsoBounced, list_addresses, remove_address
from mailqueue.api.compat.suppressed.model import AddressFilter
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import Conflict, NotFound

MAX_REMOVED = 2_000
"""Addresses of a list that is removed as a whole; removing one takes 5 ms."""
_WORDS = {"bounces": "Bounced", "complaints": "Complaint", "unsubscribes": "Unsubscribe"}


def clearing(one: MailgunList) -> CompatHandler:
    """Return the handler that removes all addresses of a list."""

    async def clear(call: RequestContext) -> Response:
        await check_domain(call)
        found = await list_addresses(call, one.addresses, AddressFilter(limit=MAX_REMOVED + 1))
        if len(found) > MAX_REMOVED:
            why = f"the list has more than {MAX_REMOVED:,} addresses: remove them one by one"
            raise Conflict(why)
        kept = 0
        for each in found:
            try:
                with suppress(NotFound):  # another request removed it
                    await remove_address(call, each, provider="mailgun")
            except AlsoBounced:
                kept += 1
        if kept:
            why = f"{kept} of {len(found)} bounced or complained, too, and are still suppressed"
            raise Conflict(f"{why}: end that by /v1/suppressions, with a reason")
        message = f"{_WORDS[one.name]} addresses for this domain have been removed"
        return json_answer({"message": message})

    return clear


CLEARING_ENDPOINTS = tuple(
    suppression_endpoint(
        "DELETE", f"/v3/{{domain}}/{one.name}", f"Remove all {one.name}.", clearing(one)
    )
    for one in LISTS
)
