"""A person's channels: the list, the installation of the Slack app, disconnecting."""

from starlette.responses import Response

from mailqueue.contract.watch import ChannelStatus, ChannelType, NotificationChannel
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.portal.frame.context import PortalContext, SentBefore
from mailqueue.portal.frame.forms import PortalAct, Question, form_pages
from mailqueue.portal.frame.page import PortalPage
from mailqueue.watch import channels, installing, owned

ABOVE = "/channels"
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
        can_install=context.portal.slack_app is not None and context.portal.origin is not None,
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
    *form_pages(
        f"{ABOVE}/{{channel_id}}/disconnect",
        PortalAct("Disconnect", "Disconnect the channel", _what_ends, _disconnect, ABOVE),
    ),
)
