"""Endpoints of channels that notifications go to."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.pagination import page_of
from mailqueue.api.watch.people import SOMEBODY
from mailqueue.api.watch.schema import (
    InstallSlack,
    NewChannel,
    OfUserQuery,
    ReconnectChannel,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import ChannelType, NotificationChannel, SlackInstallLink
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.core.secret import Secret
from mailqueue.projects.model import Scope
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import channels, installing, whatsapp
from mailqueue.watch.whatsapp import Consent, NewPhone

_TAG = "Inbox watch"
_FIELDS = {
    "slack": ("bot_token", "slack_channel_id", "workspace", "signing_secret"),
    "whatsapp": (
        "phone_number",
        "twilio_sid",
        "auth_token",
        "sender_number",
        "template_sid",
        "consent",
    ),
}
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
    _check_fields(body, body.channel_type)
    async with call.connection() as conn, unlocked(call, own, conn):
        if body.channel_type == "whatsapp":
            return await whatsapp.add(
                conn, call.caller.project_id, _phone_of(body), master=master, by=call.by
            )
        return await channels.add(
            conn,
            call.caller.project_id,
            body.user_id,
            bot_token=Secret(_given("bot_token", body.bot_token)),
            slack_channel_id=_given("slack_channel_id", body.slack_channel_id),
            workspace=body.workspace,
            signing_secret=_secret_of(body),
            master=master,
            by=call.by,
        )


def _check_fields(body: NewChannel | ReconnectChannel, channel_type: str) -> None:
    """Raise `InvalidField` for a field of the other kind of channel."""
    for name in _FIELDS["slack" if channel_type == "whatsapp" else "whatsapp"]:
        if getattr(body, name, None) is not None:
            raise InvalidField(name, f"is not a field of a channel of type {channel_type}")


def _secret_of(body: NewChannel | ReconnectChannel) -> Secret | None:
    return None if body.signing_secret is None else Secret(body.signing_secret)


def _phone_of(body: NewChannel) -> NewPhone:
    if body.consent is None:
        raise InvalidField("consent", "is needed: without it nothing is sent to a phone")
    given = body.consent
    return NewPhone(
        body.user_id,
        _given("phone_number", body.phone_number),
        _given("twilio_sid", body.twilio_sid),
        Secret(_given("auth_token", body.auth_token)),
        _given("sender_number", body.sender_number),
        _given("template_sid", body.template_sid),
        Consent(given.source, given.wording, given.given_at),
    )


def _given(name: str, value: str | None) -> str:
    if value is None:
        raise InvalidField(name, "is needed for a channel of this type")
    return value


async def install_slack(call: RequestContext) -> SlackInstallLink:
    """Begin the installation of the Slack app."""
    body: InstallSlack = call.body
    async with call.connection() as conn:
        return await installing.begin(
            conn,
            call.caller.project_id,
            body.user_id,
            app=call.services.slack_app,
            public_url=call.settings.tracking.public_url,
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
    channel_id = call.id("channel_id")
    async with call.connection() as conn, unlocked(call, own, conn):
        known = await channels.get(conn, call.caller.project_id, channel_id)
        _check_fields(body, known.channel_type)
        if known.channel_type == ChannelType.WHATSAPP:
            return await whatsapp.reconnect(
                conn,
                call.caller.project_id,
                channel_id,
                auth_token=Secret(_given("auth_token", body.auth_token)),
                template_sid=body.template_sid,
                master=master,
                by=call.by,
            )
        return await channels.reconnect(
            conn,
            call.caller.project_id,
            channel_id,
            bot_token=Secret(_given("bot_token", body.bot_token)),
            slack_channel_id=body.slack_channel_id,
            signing_secret=_secret_of(body),
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
        "Connect a channel in Slack, or a phone with WhatsApp.",
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
        description="An inbox user has at most one connected channel of each type. A phone needs "
        "the consent of its person, who ends it by the answer STOP.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{CHANNELS}/slack/install",
        Scope.PROJECT_WRITE,
        "Begin the installation of the Slack app.",
        install_slack,
        request=InstallSlack,
        response=SlackInstallLink,
        tag=_TAG,
        once=Once.NEVER,
        example={"user_id": SOMEBODY},
        description="The person follows the link within ten minutes, and is notified by direct "
        "messages of the app. Another installation replaces the token.",
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
        description="A channel in error is active again, and what waits is delivered. Only the "
        "person ends an opt-out.",
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
