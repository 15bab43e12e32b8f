"""Add and invite a person, pause and resume, scan an inbox, disconnect a channel."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from pydantic import Field

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.watch.pages import PATH, PERSON, find_person
from mailqueue.contract.watch import Inbox, NotificationChannel
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.watch import channels, inboxes, users
from mailqueue.watch.inboxes import InboxAction
from mailqueue.watch.logins import links
from mailqueue.web.schemas import FormSchema

WatchActPreview = Callable[[PageContext, Conn], Awaitable[ActPreview]]
WatchAct = Callable[[PageContext, Conn], Awaitable[str]]


class WatchedPersonForm(FormSchema):
    """A person whose inboxes are watched."""

    email: Annotated[str, Field(min_length=3, max_length=320)]
    """Address
    of the person, to which an invitation is mailed. It need not be that of an inbox."""


async def add(context: PageContext, conn: Conn, form: WatchedPersonForm) -> str:
    """Add a person; return the path of the page."""
    try:
        made = await users.add(conn, context.seen.id, form.email, by=context.user.by)
    except Conflict as exc:
        raise InvalidField("email", str(exc)) from None
    return project_path(context.seen.name, "inbox-users", made.id, done="added")


async def preview_invitation(context: PageContext, conn: Conn) -> ActPreview:
    """Return what the person gets."""
    person = await find_person(context, conn)
    return ActPreview(
        person.email,
        f"An email of this project goes to {person.email}, with a link by which the person sets a "
        "password and manages inboxes, channels and rules. It works once, within seven days.",
    )


async def invite(context: PageContext, conn: Conn) -> str:
    """Mail a link to the person."""
    person = await find_person(context, conn)
    await links.invite(
        conn,
        context.seen.id,
        person.id,
        project=context.seen.name,
        origin=context.console.settings.tracking.public_url,
        by_mail=True,
        by=context.user.by,
    )
    return _done(context, "invited")


def of_person(consequence: str, *, is_paused: bool, done: str) -> tuple[WatchActPreview, WatchAct]:
    """Return what says and what does that a person is notified of nothing, or again."""

    async def preview(context: PageContext, conn: Conn) -> ActPreview:
        return ActPreview((await find_person(context, conn)).email, consequence)

    async def verb(context: PageContext, conn: Conn) -> str:
        person = await find_person(context, conn)
        by = context.user.by
        await users.pause(conn, context.seen.id, person.id, is_paused=is_paused, by=by)
        return _done(context, done)

    return preview, verb


def of_inbox(consequence: str, action: InboxAction, done: str) -> tuple[WatchActPreview, WatchAct]:
    """Return what says and what does an action on an inbox."""

    async def preview(context: PageContext, conn: Conn) -> ActPreview:
        return ActPreview((await _inbox(context, conn)).email_address, consequence)

    async def verb(context: PageContext, conn: Conn) -> str:
        one = await _inbox(context, conn)
        await inboxes.switch(conn, context.seen.id, one.id, action, by=context.user.by)
        return _done(context, done)

    return preview, verb


async def preview_disconnection(context: PageContext, conn: Conn) -> ActPreview:
    """Return what ends with a channel."""
    one = await _channel(context, conn)
    where = one.phone_number or one.slack_channel_id or ""
    return ActPreview(
        f"{one.channel_type} {where}".strip(),
        "Its token is deleted, and notifications that wait for it are not delivered. Only the "
        "person can connect it again, or a program over the API.",
    )


async def disconnect(context: PageContext, conn: Conn) -> str:
    """Disconnect a channel."""
    one = await _channel(context, conn)
    await channels.disconnect(conn, context.seen.id, one.id, by=context.user.by)
    return _done(context, "disconnected")


def _done(context: PageContext, what: str) -> str:
    person = context.id_in_path("inbox_user_id", "inbox user")
    return project_path(context.seen.name, "inbox-users", person, done=what)


async def _inbox(context: PageContext, conn: Conn) -> Inbox:
    person = await find_person(context, conn)
    inbox_id = context.id_in_path("inbox_id", "inbox")
    found = await inboxes.get(conn, context.seen.id, inbox_id)
    if found.user_id != person.id:
        raise NotFound("inbox", inbox_id)
    return found


async def _channel(context: PageContext, conn: Conn) -> NotificationChannel:
    person = await find_person(context, conn)
    channel_id = context.id_in_path("channel_id", "channel")
    found = await channels.get(conn, context.seen.id, channel_id)
    if found.user_id != person.id:
        raise NotFound("channel", channel_id)
    return found


PAGES = (
    *form_pages(
        f"{PATH}/new",
        Right.CONFIGURE,
        FormPage(
            "Add a person",
            "Add the person",
            WatchedPersonForm,
            add,
            lead="New mail in the inboxes of this person is reported in Slack or WhatsApp.",
        ),
    ),
    *button_pages(
        f"{PERSON}/invite",
        Right.CONFIGURE,
        ActPage("Invite", "Mail the invitation", preview_invitation, invite),
    ),
    *button_pages(
        f"{PERSON}/pause",
        Right.CONTROL,
        ActPage(
            "Pause reports to",
            "Pause the reports",
            *of_person(
                "Nothing is reported to this person until it is resumed, and mail that comes "
                "meanwhile is not reported later.",
                is_paused=True,
                done="paused",
            ),
        ),
    ),
    *button_pages(
        f"{PERSON}/resume",
        Right.CONTROL,
        ActPage(
            "Resume reports to",
            "Resume the reports",
            *of_person(
                "Mail that comes from now on is reported again.", is_paused=False, done="resumed"
            ),
        ),
    ),
    *button_pages(
        f"{PERSON}/pause-inbox-{{inbox_id}}",
        Right.CONTROL,
        ActPage(
            "Pause the inbox",
            "Pause the inbox",
            *of_inbox(
                "It is not scanned until it is resumed, and mail that comes meanwhile is not "
                "reported later.",
                InboxAction.PAUSE,
                "inbox_paused",
            ),
        ),
    ),
    *button_pages(
        f"{PERSON}/resume-inbox-{{inbox_id}}",
        Right.CONTROL,
        ActPage(
            "Resume the inbox",
            "Resume the inbox",
            *of_inbox(
                "Mail that comes from now on is reported.", InboxAction.RESUME, "inbox_resumed"
            ),
        ),
    ),
    *button_pages(
        f"{PERSON}/scan-inbox-{{inbox_id}}",
        Right.CONTROL,
        ActPage(
            "Scan the inbox",
            "Scan the inbox now",
            *of_inbox(
                "It is scanned in a moment, and then as before.", InboxAction.SCAN, "scanned"
            ),
        ),
    ),
    *button_pages(
        f"{PERSON}/disconnect-{{channel_id}}",
        Right.CONTROL,
        ActPage(
            "Disconnect the channel",
            "Disconnect the channel",
            preview_disconnection,
            disconnect,
            is_destructive=True,
        ),
        step_up=True,
    ),
)
