"""Endpoints of channels that notifications go to."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.pagination import page_of
from mailqueue.api.watch.people import SOMEBODY
from mailqueue.api.watch.schema import (
    NewChannel,
    OfUserQuery,
    ReconnectChannel,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import NotificationChannel
from mailqueue.core.paging import key_of
from mailqueue.core.secret import Secret
from mailqueue.tenants.model import Scope
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import channels

_TAG = "Inbox watch"
CHANNELS = "/v1/channels"
_CHANNEL = CHANNELS + "/{channel_id}"


async def list_channels(call: RequestContext) -> Page[NotificationChannel]:
    """List channels."""
    query: OfUserQuery = call.query
    (after,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await channels.list_page(
            conn,
            call.caller.project_id,
            user_id=query.user_id,
            after=after,
            limit=query.limit + 1,
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def add_channel(call: RequestContext) -> NotificationChannel:
    """Connect a channel."""
    body: NewChannel = call.body
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        return await channels.add(
            conn,
            call.caller.project_id,
            body.user_id,
            bot_token=Secret(body.bot_token),
            slack_channel_id=body.slack_channel_id,
            workspace=body.workspace,
            master=master,
            by=call.by,
        )


async def get_channel(call: RequestContext) -> NotificationChannel:
    """Return one channel."""
    async with call.connection() as conn:
        return await channels.get(conn, call.caller.project_id, call.id("channel_id"))


async def reconnect_channel(call: RequestContext) -> NotificationChannel:
    """Replace the token of a channel."""
    body: ReconnectChannel = call.body
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        return await channels.reconnect(
            conn,
            call.caller.project_id,
            call.id("channel_id"),
            bot_token=Secret(body.bot_token),
            slack_channel_id=body.slack_channel_id,
            master=master,
            by=call.by,
        )


async def disconnect_channel(call: RequestContext) -> None:
    """Disconnect a channel."""
    async with call.connection() as conn:
        await channels.disconnect(conn, call.caller.project_id, call.id("channel_id"), by=call.by)


CHANNEL_ENDPOINTS = (
    Endpoint(
        "GET",
        CHANNELS,
        Scope.PROJECT_READ,
        "List channels.",
        list_channels,
        query=OfUserQuery,
        response=Page[NotificationChannel],
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        CHANNELS,
        Scope.PROJECT_WRITE,
        "Connect a Slack channel.",
        add_channel,
        request=NewChannel,
        response=NotificationChannel,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={
            "user_id": SOMEBODY,
            "bot_token": "xoxb-0000000000-example",
            "slack_channel_id": "C0123456789",
        },
        description="An inbox user has at most one connected channel of each type.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _CHANNEL,
        Scope.PROJECT_READ,
        "Show a channel.",
        get_channel,
        response=NotificationChannel,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_CHANNEL}/reconnect",
        Scope.PROJECT_WRITE,
        "Give a channel a new token.",
        reconnect_channel,
        request=ReconnectChannel,
        response=NotificationChannel,
        tag=_TAG,
        example={"bot_token": "xoxb-0000000000-example"},
        description="A channel in error is active again, and what waits is delivered.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _CHANNEL,
        Scope.PROJECT_WRITE,
        "Disconnect a channel.",
        disconnect_channel,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Its token is deleted and what waits fails; the channel stays listed as "
        "`disconnected`.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
