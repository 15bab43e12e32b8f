"""Endpoints of muted senders."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import page_of
from mailqueue.api.watch.people import SOMEBODY
from mailqueue.api.watch.schema import NewMutedSender, OfUserQuery
from mailqueue.contract.page import Page
from mailqueue.contract.watch import MutedSender
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.watch import muting

_TAG = "Inbox watch"
MUTED = "/v1/muted-senders"
_ONE = MUTED + "/{muted_sender_id}"


async def list_muted(call: RequestContext) -> Page[MutedSender]:
    """List muted senders."""
    query: OfUserQuery = call.query
    (after,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await muting.list_page(
            conn,
            call.caller.project_id,
            user_id=query.user_id,
            after=after,
            limit=query.limit + 1,
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def mute_sender(call: RequestContext) -> MutedSender:
    """Mute a sender."""
    body: NewMutedSender = call.body
    async with call.connection() as conn:
        return await muting.mute(
            conn, call.caller.project_id, body.user_id, body.sender_address, by=call.by
        )


async def get_muted(call: RequestContext) -> MutedSender:
    """Return one muted sender."""
    async with call.connection() as conn:
        return await muting.get(conn, call.caller.project_id, call.id("muted_sender_id"))


async def unmute_sender(call: RequestContext) -> None:
    """Unmute a sender."""
    async with call.connection() as conn:
        await muting.unmute(conn, call.caller.project_id, call.id("muted_sender_id"), by=call.by)


MUTED_ENDPOINTS = (
    Endpoint(
        "GET",
        MUTED,
        Scope.PROJECT_READ,
        "List muted senders.",
        list_muted,
        query=OfUserQuery,
        response=Page[MutedSender],
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        MUTED,
        Scope.PROJECT_WRITE,
        "Mute a sender.",
        mute_sender,
        request=NewMutedSender,
        response=MutedSender,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={"user_id": SOMEBODY, "sender_address": "shop@example.com"},
        description="The inbox user is not notified of mail from this address, whatever the filter "
        "rules are; what waits from it fails. A button in Slack does the same. At most 1,000 "
        "senders each.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.PROJECT_READ,
        "Show a muted sender.",
        get_muted,
        response=MutedSender,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.PROJECT_WRITE,
        "Unmute a sender.",
        unmute_sender,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Mail that arrives from now on is reported.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
