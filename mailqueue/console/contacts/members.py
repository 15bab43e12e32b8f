"""Pages that add, change and remove a contact list, and its members."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from mailqueue.admin.users.model import Right
from mailqueue.console.contacts.lists import COUNTED_FOR, LIST, PATH
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.rendering import project_path
from mailqueue.contacts import lists
from mailqueue.contract.contacts import ContactList, OptIn
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.operations.acting import note_act
from mailqueue.web.rendering import counted
from mailqueue.web.schemas import Choices, FormSchema, TextLines

NEW = f"{PATH}/~new"
"""The name of a list cannot begin with ~."""
OPT_INS = {
    "none": "all members",
    "recorded": "members whose consent is recorded",
    "confirmed": "members that confirmed by a link in an email",
}


class ListForm(FormSchema):
    """The form of a list."""

    description: Annotated[str | None, Field(max_length=500)] = None
    """Description (optional)"""
    condition: Annotated[str | None, Field(max_length=500)] = None
    """Condition:
    a jsonpath on the fields of a contact, such as $.attributes.plan == "pro"; empty for a list to
    which contacts are added"""
    opt_in: Annotated[OptIn, Choices(OPT_INS)] = OptIn.NONE
    """Emails to the list go to"""
    confirm_template: Annotated[str | None, Field(max_length=120)] = None
    """Template that asks to confirm:
    slug, or slug@version; empty for the built-in text"""


class NameForm(FormSchema):
    """The name of a list."""

    name: Annotated[str, Field(max_length=63)]
    """Name: lower-case letters, digits, - and _; it cannot be changed"""


class NewListForm(ListForm, NameForm):
    """The form of a new list: its name first."""


class MembersForm(FormSchema):
    """The form of members that are added or removed."""

    contacts: Annotated[str, TextLines(), Field(max_length=60_000)]
    """Addresses of contacts, one a line"""


async def name(context: PageContext, conn: Conn) -> str:
    """Return the name of the list of the path."""
    return (await _found(context, conn)).name


async def first(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return what the form of a list holds at first."""
    found = await _found(context, conn)
    return {name: str(getattr(found, name) or "") for name in ListForm.model_fields}


async def add(context: PageContext, conn: Conn, form: NewListForm) -> str:
    """Add a list; return the path of its page."""
    given = {name: value for name, value in _given(form).items() if value is not None}
    try:
        await lists.add(conn, context.seen.id, form.name, given=given, by=context.user.by)
    except Conflict:
        raise InvalidField("name", "there is a list of this name") from None
    return project_path(context.seen.name, "lists", form.name, done="added")


async def change(context: PageContext, conn: Conn, form: ListForm) -> str:
    """Change a list; return the path of its page."""
    found = await _found(context, conn)
    given = _given(form)
    await lists.change(conn, context.seen.id, found.name, given=given, by=context.user.by)
    return _path(context, found, "changed")


async def preview_removal(context: PageContext, conn: Conn) -> ActPreview:
    """Return what ends when a list is removed, with the number of its members."""
    found = await _found(context, conn)
    members = await lists.count(conn, context.seen.id, found.name, category=COUNTED_FOR)
    return ActPreview(
        found.name,
        f"The list has {counted(members.contacts, 'contact')}, which stay. Emails that are queued "
        "already are sent. What names the list from then on, such as a schedule, does not find it.",
    )


async def remove(context: PageContext, conn: Conn) -> str:
    """Remove a list; its contacts stay."""
    found = await _found(context, conn)
    await lists.remove(conn, context.seen.id, found.name, by=context.user.by)
    return project_path(context.seen.name, "lists", done="removed")


async def add_members(context: PageContext, conn: Conn, form: MembersForm) -> str:
    """Add contacts to a list."""
    return await _members_changed(context, conn, form, is_added=True)


async def remove_members(context: PageContext, conn: Conn, form: MembersForm) -> str:
    """Remove contacts from a list."""
    return await _members_changed(context, conn, form, is_added=False)


async def _members_changed(
    context: PageContext, conn: Conn, form: MembersForm, *, is_added: bool
) -> str:
    found = await _found(context, conn)
    lines = [line.strip() for line in form.contacts.splitlines()]
    who = [(number, line) for number, line in enumerate(lines, start=1) if line]
    if len(who) > lists.MAX_MEMBERS:
        raise InvalidField("contacts", f"at most {lists.MAX_MEMBERS:,} at once; import more")
    try:
        done = await lists.change_members(
            conn, context.seen.id, found.name, [line for _, line in who], is_added=is_added
        )
    except InvalidField as exc:
        field, _, place = exc.field.partition(".")
        if field != "contacts" or not place.isdigit():
            raise InvalidField("contacts", exc.why) from None
        raise InvalidField("contacts", f"line {who[int(place)][0]}: {exc.why}") from None
    what = "added" if is_added else "removed"
    await note_act(
        conn,
        context.seen.id,
        action=f"contact_list.members_{what}",
        subject=f"contact list {found.name}",
        detail={"contacts": done.changed},
    )
    return project_path(
        context.seen.name, "lists", found.name, done=f"members_{what}", members=done.changed
    )


def _given(form: ListForm) -> dict[str, Any]:
    return form.model_dump(mode="json", include=set(ListForm.model_fields))


def _path(context: PageContext, found: ContactList, what: str) -> str:
    return project_path(context.seen.name, "lists", found.name, done=what)


async def _found(context: PageContext, conn: Conn) -> ContactList:
    name: str = context.request.path_params["list"]
    return await lists.get(conn, context.seen.id, name.replace("\0", "\ufffd"))


PAGES = (
    *form_pages(
        NEW,
        Right.MANAGE_RECIPIENTS,
        FormPage(
            "Add a list",
            "Add the list",
            NewListForm,
            add,
            lead="Its members are the contacts that are added, or all that satisfy a condition.",
        ),
    ),
    *form_pages(
        f"{LIST}/change",
        Right.MANAGE_RECIPIENTS,
        FormPage(
            "Change the list",
            "Save the list",
            ListForm,
            change,
            consequence="What is sent to the list later goes to the members that it has then.",
            named=name,
            first=first,
        ),
    ),
    *form_pages(
        f"{LIST}/add",
        Right.MANAGE_RECIPIENTS,
        FormPage(
            "Add members to the list",
            "Add the members",
            MembersForm,
            add_members,
            consequence="No email is sent by this, except one that asks to confirm, where the list "
            "needs that.",
            named=name,
        ),
    ),
    *form_pages(
        f"{LIST}/take-out",
        Right.MANAGE_RECIPIENTS,
        FormPage(
            "Remove members from the list",
            "Remove the members",
            MembersForm,
            remove_members,
            consequence="The contacts stay; they get no more emails to this list.",
            named=name,
        ),
    ),
    *button_pages(
        f"{LIST}/remove",
        Right.MANAGE_RECIPIENTS,
        ActPage("Remove the list", "Remove the list", preview_removal, remove, is_destructive=True),
        step_up=True,
    ),
)
