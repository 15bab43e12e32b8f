"""A person's channels: the list, the Slack app, the phone with WhatsApp, disconnecting."""

from starlette.responses import Response

from mailqueue.contract.watch import ChannelStatus, ChannelType, NotificationChannel
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.portal.frame.context import PortalContext, SentBefore
from mailqueue.portal.frame.forms import PortalAct, Question, form_pages
from mailqueue.portal.frame.page import PortalPage
from mailqueue.watch import channels, installing, owned, registering

ABOVE = "/channels"
AGREES = "agrees"
"""Name of the box by which a person consents to messages to the phone."""
MAX_SHOWN = 100
"""Channels that are listed: those that are connected, and records of earlier ones."""


async def show(context: PortalContext) -> Response:
    """List the person's channels, connected ones first."""
    async with context.connection() as conn:
        found = await channels.list_page(
            conn, context.project.id, user_id=context.person.user_id, limit=MAX_SHOWN
        )
    found.sort(key=lambda one: one.status == ChannelStatus.DISCONNECTED)
    types = {one.channel_type for one in found if one.status != ChannelStatus.DISCONNECTED}
    return context.page(
        "channels/list.html",
        channels=found,
        has_slack=ChannelType.SLACK in types,
        has_phone=ChannelType.WHATSAPP in types,
        can_install=context.portal.slack_app is not None and context.portal.origin is not None,
        can_register=context.portal.phone_sender is not None,
        done=context.query("done"),
    )


async def install(context: PortalContext) -> Response:
    """Show the link to the page of Slack where the person installs the app."""
    try:
        async with context.acting_once() as conn:
            begun = await installing.begin(
                conn,
                context.project.id,
                context.person.user_id,
                app=context.portal.slack_app,
                public_url=context.portal.origin,
                by=context.person.by,
                session=context.form_key,
            )
    except SentBefore:
        return context.redirect(context.path("channels", done="before"))
    except Conflict:
        raise Conflict("Slack cannot be connected here: the installation is not set up") from None
    return context.page(
        "frame/onward.html",
        title="Connect Slack",
        lead="Install the app in your workspace; you are then notified by direct messages of it. "
        "The link works in this browser alone.",
        url=begun.url,
        until=begun.expires_at,
        words="Continue at Slack",
        back=context.path("channels"),
    )


async def ask_phone(context: PortalContext) -> Response:
    """Show what a person agrees to who connects a phone."""
    return _phone_page(context)


async def begin_phone(context: PortalContext) -> Response:
    """Show the code that a person who agreed sends from the phone."""
    if context.form.get(AGREES) != "on":
        return _phone_page(
            context, "Tick the box: nothing is sent to a phone without your consent."
        )
    try:
        async with context.acting_once() as conn:
            begun = await registering.begin(
                conn,
                context.project.id,
                context.person.user_id,
                sender=context.portal.phone_sender,
                source=context.path("channels", "whatsapp"),
                by=context.person.by,
            )
    except SentBefore:
        return context.redirect(context.path("channels", done="before"))
    except Conflict:
        raise Conflict("a phone cannot be connected here: the installation has no sender") from None
    return context.page("channels/code.html", begun=begun)


def _phone_page(context: PortalContext, fault: str = "") -> Response:
    return context.form_page(
        "channels/phone.html", {}, {AGREES: fault} if fault else {}, wording=registering.WORDING
    )


async def _what_ends(context: PortalContext, conn: Conn) -> Question:
    one = await _own(context, conn)
    return Question(
        "Slack" if one.channel_type == ChannelType.SLACK else (one.phone_number or "WhatsApp"),
        "Its token is deleted, and notifications that wait for it are not delivered.",
    )


async def _disconnect(context: PortalContext, conn: Conn) -> str:
    one = await _own(context, conn)
    await channels.disconnect(conn, context.project.id, one.id, by=context.person.by)
    return context.path("channels", done="disconnected")


async def _own(context: PortalContext, conn: Conn) -> NotificationChannel:
    return await owned.channel(
        conn,
        context.project.id,
        context.person.user_id,
        context.id_in_path("channel_id", "channel"),
    )


PAGES = (
    PortalPage("GET", ABOVE, show, menu="Channels"),
    PortalPage("POST", f"{ABOVE}/slack", install),
    PortalPage("GET", f"{ABOVE}/whatsapp", ask_phone),
    PortalPage("POST", f"{ABOVE}/whatsapp", begin_phone),
    *form_pages(
        f"{ABOVE}/{{channel_id}}/disconnect",
        PortalAct("Disconnect", "Disconnect the channel", _what_ends, _disconnect, ABOVE),
    ),
)
