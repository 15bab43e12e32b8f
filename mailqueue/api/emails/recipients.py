"""The endpoint with the events of all mail to one address."""

from datetime import datetime
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.contract.emails import RecipientEvent
from mailqueue.contract.page import Page
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.events import listing
from mailqueue.projects.model import Scope


async def events(call: RequestContext) -> Page[RecipientEvent]:
    """Return everything that happened to mail to an address, newest first."""
    try:
        address = parse_address(call.path["email"])
    except InvalidAddress as exc:
        raise InvalidField("email", str(exc)) from exc
    query: PageQuery = call.query
    before, before_id = key_of(query.cursor, datetime, UUID)
    async with call.connection() as conn:
        found = await listing.list_recipient(
            conn,
            call.caller.project_id,
            address.sent,
            before=(before, before_id),
            limit=query.limit + 1,
        )
    return page_of(found, query.limit, key=lambda one: (one.occurred_at, one.id))


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/recipients/{email}/events",
        Scope.EMAIL_READ,
        "List the events of all emails to an address.",
        events,
        query=PageQuery,
        response=Page[RecipientEvent],
        tag="Emails",
        description="Newest first: `accepted`, `sent`, and the events of every email to the "
        "address, each with its `email_id`. The list is empty if there was no email.",
        test_keys=ForTestKeys.OWN,
    ),
)
