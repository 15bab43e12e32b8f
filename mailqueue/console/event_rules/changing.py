"""Pages that add, change, enable, pause and remove an event rule."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from mailqueue.admin.users.model import Right
from mailqueue.console.event_rules.pages import ACTIONS, NEW, RULE, find_rule
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.named_lines import lines_of, values_of
from mailqueue.console.frame.rendering import project_path
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.inbox import rules
from mailqueue.web.schemas import Choices, FormSchema, TextLines

MAX_DELAY = 31_622_400
"""Seconds."""


class EventRuleForm(FormSchema):
    """The form of a rule."""

    event_type: Annotated[str, Field(max_length=200)]
    """Type of the events, such as OrderPlaced"""
    action: Annotated[Literal["mail", "cancel", "enroll", "leave", "record"], Choices(ACTIONS)] = (
        "mail"
    )
    """What it does"""
    condition: Annotated[str | None, Field(max_length=500)] = None
    """Only if (optional):
    a jsonpath that the payload satisfies, such as $.total > 100"""
    recipient: Annotated[str | None, Field(max_length=500)] = None
    """Recipient:
    an address, or the jsonpath of one, such as $.customer.email"""
    recipient_name: Annotated[str | None, Field(max_length=500)] = None
    """Name of the recipient (optional):
    or its jsonpath"""
    template: Annotated[str | None, Field(max_length=120)] = None
    """Template of the email:
    slug, or slug@version"""
    language: Annotated[str | None, Field(max_length=500)] = None
    """Language of the email (optional):
    or its jsonpath; else that of the template"""
    variables: Annotated[str | None, TextLines(), Field(max_length=20_000)] = None
    """Variables of the template:
    one a line, such as order = $.orderId; what begins with $ is a jsonpath"""
    sequence: Annotated[str | None, Field(max_length=63)] = None
    """Sequence:
    to enroll in or to leave; empty for leaving all"""
    key: Annotated[str | None, Field(max_length=500)] = None
    """Key under which emails are made or cancelled (optional):
    or its jsonpath, such as $.orderId"""
    priority: Annotated[
        Literal["normal", "critical", "high", "low"], Choices({"normal": "normal"})
    ] = "normal"
    """Priority of the email"""
    delay_seconds: Annotated[int, Field(ge=0, le=MAX_DELAY)] = 0
    """Seconds before the email is sent"""
    tags: Annotated[str | None, TextLines(), Field(max_length=4_000)] = None
    """Tags of the email (optional), one a line"""


class RuleNameForm(FormSchema):
    """The name of a rule."""

    name: Annotated[str, Field(max_length=63)]
    """Name: lower-case letters, digits, - and _; it cannot be changed"""


class NewEventRuleForm(EventRuleForm, RuleNameForm):
    """The form of a new rule: its name first."""


async def name(context: PageContext, conn: Conn) -> str:
    """Return the name of the rule of the path."""
    return (await find_rule(context, conn)).name


async def first(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return what the form of a rule holds at first."""
    found = await find_rule(context, conn)
    texts = {name: str(getattr(found, name) or "") for name in EventRuleForm.model_fields}
    return texts | {
        "priority": found.priority or "normal",
        "delay_seconds": str(found.delay_seconds),
        "variables": lines_of(found.variables),
        "tags": "\n".join(found.tags),
    }


async def add(context: PageContext, conn: Conn, form: NewEventRuleForm) -> str:
    """Add a rule, which does nothing until it is enabled; return the path of its page."""
    try:
        await rules.add(
            conn, context.seen.id, form.name, given=_given(form, {}), by=context.user.by
        )
    except Conflict:
        raise InvalidField("name", "there is a rule of this name") from None
    return _path(context, form.name, "added")


async def change(context: PageContext, conn: Conn, form: EventRuleForm) -> str:
    """Change a rule; return the path of its page."""
    found = await find_rule(context, conn)
    given = _given(form, found.variables)
    await rules.change(conn, context.seen.id, found.name, given=given, by=context.user.by)
    return _path(context, found.name, "changed")


async def preview_enabling(context: PageContext, conn: Conn) -> ActPreview:
    """Return what a rule does once it is enabled."""
    found = await find_rule(context, conn)
    return ActPreview(
        found.name,
        f"With each event of type {found.event_type} that comes from now on it does this: "
        f"{ACTIONS[found.action]}. Try it on a sample before.",
    )


async def enable(context: PageContext, conn: Conn) -> str:
    """Enable the rule."""
    return await _switched(context, conn, is_enabled=True)


async def preview_pause(context: PageContext, conn: Conn) -> ActPreview:
    """Return what a rule no longer does once it is paused."""
    found = await find_rule(context, conn)
    return ActPreview(
        found.name,
        f"It does nothing with events of type {found.event_type} until it is enabled again. Events "
        "that come meanwhile are kept, and can be replayed. Emails that it made are sent.",
    )


async def pause(context: PageContext, conn: Conn) -> str:
    """Pause the rule."""
    return await _switched(context, conn, is_enabled=False)


async def preview_removal(context: PageContext, conn: Conn) -> ActPreview:
    """Return what ends with a rule."""
    found = await find_rule(context, conn)
    return ActPreview(
        found.name,
        "What it did with events stays recorded, and emails that it made are sent. The audit log "
        "keeps its versions; there is no way to undo it.",
    )


async def remove(context: PageContext, conn: Conn) -> str:
    """Remove the rule."""
    found = await find_rule(context, conn)
    await rules.remove(conn, context.seen.id, found.name, by=context.user.by)
    return project_path(context.seen.name, "event-rules", done="removed")


async def _switched(context: PageContext, conn: Conn, *, is_enabled: bool) -> str:
    found = await find_rule(context, conn)
    given = {"is_enabled": is_enabled}
    await rules.change(conn, context.seen.id, found.name, given=given, by=context.user.by)
    return _path(context, found.name, "enabled" if is_enabled else "paused")


def _given(form: EventRuleForm, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a rule that a form has; variables as `before` are the same values."""
    given: dict[str, Any] = form.model_dump(include=set(EventRuleForm.model_fields))
    lines = (form.tags or "").splitlines()
    return given | {
        "variables": values_of(form.variables or "", "variables", before),
        "tags": [line.strip() for line in lines if line.strip()],
    }


def _path(context: PageContext, name: str, what: str) -> str:
    return project_path(context.seen.name, "event-rules", name, done=what)


PAGES = (
    *form_pages(
        NEW,
        Right.CONFIGURE,
        FormPage(
            "New event rule",
            "Add the rule",
            NewEventRuleForm,
            add,
            lead="What is done with the events of a type that your services report.",
            consequence="It does nothing until you enable it.",
        ),
    ),
    *form_pages(
        f"{RULE}/change",
        Right.CONFIGURE,
        FormPage(
            "Change the event rule",
            "Save the rule",
            EventRuleForm,
            change,
            consequence="It acts so on events that come from now on; on one event it acts once.",
            named=name,
            first=first,
        ),
    ),
    *button_pages(
        f"{RULE}/enable",
        Right.CONFIGURE,
        ActPage("Enable the rule", "Enable the rule", preview_enabling, enable),
    ),
    *button_pages(
        f"{RULE}/pause",
        Right.CONFIGURE,
        ActPage("Pause the rule", "Pause the rule", preview_pause, pause),
    ),
    *button_pages(
        f"{RULE}/remove",
        Right.CONFIGURE,
        ActPage("Remove the rule", "Remove the rule", preview_removal, remove, is_destructive=True),
        step_up=True,
    ),
)
