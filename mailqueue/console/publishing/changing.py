"""Pages that add, change and remove an outbox, and leave out a message."""

from collections.abc import Mapping, Sequence
from typing import Annotated
from uuid import UUID

from pydantic import Field

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.publishing.pages import NEW, OUTBOX, find_outbox
from mailqueue.contract.automation.publishing import OutboxTransport
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.publishing import outboxes
from mailqueue.web.schemas import Choices, FormSchema, TextLines

ALL_EVENTS = "*"
_BY = {OutboxTransport.WEBHOOK: "a webhook", OutboxTransport.RABBITMQ: "RabbitMQ"}


class OutboxForm(FormSchema):
    """The form of an outbox."""

    transport: Annotated[OutboxTransport, Choices(_BY)] = OutboxTransport.WEBHOOK
    """Published to"""
    target: Annotated[str, Field(max_length=200)]
    """Target:
    the id of a webhook of this project; for RabbitMQ the format and the exchange, such as
    cloudevents:shop.events"""
    events: Annotated[str | None, TextLines(), Field(max_length=4_000)] = None
    """Events of emails that it publishes too (optional):
    one type a line, such as email.delivered; * for all"""


class OutboxNameForm(FormSchema):
    """The name of an outbox."""

    name: Annotated[str, Field(max_length=63)]
    """Name: lower-case letters, digits, - and _; services write to it by this name"""


class NewOutboxForm(OutboxForm, OutboxNameForm):
    """The form of a new outbox: its name first."""


class SkipForm(FormSchema):
    """The form that leaves out a message."""

    message_id: UUID
    """Id of the message:
    the receiver's log has it, and so has mailqueue.outbox_message"""


async def name(context: PageContext, conn: Conn) -> str:
    """Return the name of the outbox of the path."""
    return (await find_outbox(context, conn)).name


async def first(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return what the form of an outbox holds at first."""
    found = await find_outbox(context, conn)
    return {
        "transport": found.transport,
        "target": found.target,
        "events": "" if found.events is None else "\n".join(found.events) or ALL_EVENTS,
    }


async def add(context: PageContext, conn: Conn, form: NewOutboxForm) -> str:
    """Add an outbox; return the path of its page."""
    try:
        await outboxes.add(
            conn,
            context.seen.id,
            form.name,
            transport=form.transport,
            target=form.target,
            events=_events_of(form),
            by=context.user.by,
        )
    except Conflict:
        raise InvalidField("name", "there is an outbox of this name") from None
    return _path(context, form.name, "added")


async def change(context: PageContext, conn: Conn, form: OutboxForm) -> str:
    """Publish the messages of an outbox elsewhere, or other events; return the path of its page."""
    project, by = context.seen.id, context.user.by
    found, events = await find_outbox(context, conn), _events_of(form)
    if (found.transport, found.target) != (form.transport, form.target):
        await outboxes.change(
            conn, project, found.name, transport=form.transport, target=form.target, by=by
        )
    if found.events != events:
        await outboxes.change_events(conn, project, found.name, events=events, by=by)
    return _path(context, found.name, "changed")


async def skip(context: PageContext, conn: Conn, form: SkipForm) -> str:
    """Leave out a message; return the path of the page of the outbox."""
    found = await find_outbox(context, conn)
    try:
        await outboxes.skip(conn, context.seen.id, found.name, form.message_id, by=context.user.by)
    except NotFound:
        raise InvalidField("message_id", "no message of this id waits in the outbox") from None
    return _path(context, found.name, "skipped")


async def preview_removal(context: PageContext, conn: Conn) -> ActPreview:
    """Return what ends with an outbox."""
    found = await find_outbox(context, conn)
    lost = f"{found.waiting} messages that wait are lost. " if found.waiting else ""
    return ActPreview(
        found.name, f"{lost}Services that write to it get an error. There is no way to undo it."
    )


async def remove(context: PageContext, conn: Conn) -> str:
    """Remove the outbox."""
    found = await find_outbox(context, conn)
    await outboxes.remove(conn, context.seen.id, found.name, by=context.user.by)
    return project_path(context.seen.name, "outboxes", done="removed")


def _events_of(form: OutboxForm) -> Sequence[str] | None:
    """Return the types of events of a form: none where there is no line, empty for all. Pure."""
    lines = [line.strip() for line in (form.events or "").splitlines() if line.strip()]
    if not lines:
        return None
    return [] if lines == [ALL_EVENTS] else lines


def _path(context: PageContext, name: str, what: str) -> str:
    return project_path(context.seen.name, "outboxes", name, done=what)


PAGES = (
    *form_pages(
        NEW,
        Right.CONFIGURE,
        FormPage(
            "New outbox",
            "Add the outbox",
            NewOutboxForm,
            add,
            lead="Services write messages to it in their own transactions; they are published in "
            "the order in which they were written.",
        ),
    ),
    *form_pages(
        f"{OUTBOX}/change",
        Right.CONFIGURE,
        FormPage(
            "Change the outbox",
            "Save the outbox",
            OutboxForm,
            change,
            consequence="Messages that wait are published to the new target.",
            named=name,
            first=first,
        ),
    ),
    *form_pages(
        f"{OUTBOX}/skip",
        Right.CONFIGURE,
        FormPage(
            "Leave out a message of the outbox",
            "Leave out the message",
            SkipForm,
            skip,
            consequence="It is never published. Those after it are.",
            named=name,
        ),
        step_up=True,
    ),
    *button_pages(
        f"{OUTBOX}/remove",
        Right.CONFIGURE,
        ActPage(
            "Remove the outbox", "Remove the outbox", preview_removal, remove, is_destructive=True
        ),
        step_up=True,
    ),
)
