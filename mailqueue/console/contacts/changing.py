"""Pages that add, change and remove a contact."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from mailqueue.admin.users.model import Right
from mailqueue.console.contacts.pages import CONTACT, PATH
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.named_lines import lines_of, values_of
from mailqueue.console.frame.rendering import project_path
from mailqueue.contacts import contacts
from mailqueue.contract.automation.sequences import EnrollmentState
from mailqueue.contract.automation.timed_events import TimedEventStatus
from mailqueue.contract.contacts import Contact, ContactDetail
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.core.storable_text import unstorable
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.operations.acting import note_act
from mailqueue.sequences import enrollments
from mailqueue.timed_events import events
from mailqueue.timed_events.model import TimedEventFilter
from mailqueue.web.rendering import counted
from mailqueue.web.schemas import FormSchema, TextLines

MAX_COUNTED = 100
"""Rows of each kind that are counted before a contact is removed."""
WAITING = ("pending", "held", "assigned")
"""States of emails that were not sent yet."""


class PersonForm(FormSchema):
    """What a contact is."""

    email: Annotated[str, Field(max_length=320)]
    """Address"""
    first_name: Annotated[str | None, Field(max_length=100)] = None
    """First name"""
    last_name: Annotated[str | None, Field(max_length=100)] = None
    """Last name"""
    language: Annotated[str | None, Field(max_length=40)] = None
    """Language,
    such as en or pt-BR"""
    time_zone: Annotated[str | None, Field(max_length=100)] = None
    """Time zone,
    such as Europe/Berlin"""
    date_of_birth: date | None = None
    """Date of birth"""
    attributes: Annotated[str | None, TextLines(), Field(max_length=40_000)] = None
    """Attributes,
    one a line, such as plan = pro"""


class ContactForm(PersonForm):
    """The form of a contact: what it is, and what the person agreed to."""

    consented_at: Annotated[str | None, Field(max_length=40)] = None
    """Time of the consent,
    such as 2026-05-31T08:00:00Z; now, if it is empty and one of the next two is not"""
    consent_source: Annotated[str | None, Field(max_length=200)] = None
    """Source of the consent,
    such as the address of a form"""
    consent_wording: Annotated[str | None, Field(max_length=2000)] = None
    """Wording of the consent,
    as it was shown to the person"""


async def name(context: PageContext, conn: Conn) -> str:
    """Return the address of the contact of the path."""
    return (await _found(context, conn)).email


async def first(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return what the form of a contact holds at first."""
    found = await _found(context, conn)
    typed = {name: getattr(found, name) for name in ContactForm.model_fields}
    agreed = found.consented_at
    return {name: "" if value is None else str(value) for name, value in typed.items()} | {
        "attributes": lines_of(found.attributes),
        "consented_at": "" if agreed is None else agreed.isoformat(),
    }


async def add(context: PageContext, conn: Conn, form: ContactForm) -> str:
    """Add a contact; return the path of its page."""
    given = _given(form) | {"attributes": _attributes(form, None)}
    try:
        made = await contacts.add(conn, context.seen.id, _without_nothing(given))
    except Conflict:
        why = "there is a contact of this address, which can be changed"
        raise InvalidField("email", why) from None
    return await _changed(context, conn, made.id, "added")


async def change(context: PageContext, conn: Conn, form: ContactForm) -> str:
    """Change a contact; return the path of its page."""
    found = await _found(context, conn)
    before = await first(context, conn)
    given = {
        name: value for name, value in _given(form).items() if (value or "") != before[name].strip()
    }
    attributes = _attributes(form, found.attributes)
    changed = {
        name: value
        for name, value in attributes.items()
        if name not in found.attributes or value is not found.attributes[name]
    }
    gone = dict.fromkeys(found.attributes.keys() - attributes.keys())
    if changed or gone:
        given["attributes"] = changed | gone
    if given:
        await contacts.change(conn, context.seen.id, str(found.id), given)
    return await _changed(context, conn, found.id, "changed")


async def preview_removal(context: PageContext, conn: Conn) -> ActPreview:
    """Return what ends when a contact is removed, with numbers."""
    found, project_id = await _detail(context, conn), context.seen.id
    ended = [
        await enrollments.list_page(
            conn,
            project_id,
            sequence=None,
            email=found.email,
            state=state,
            before=None,
            limit=MAX_COUNTED,
        )
        for state in (EnrollmentState.ACTIVE, EnrollmentState.PAUSED)
    ]
    timed = await events.list_page(
        conn,
        project_id,
        filters=TimedEventFilter(contact_id=found.id, status=TimedEventStatus.PENDING),
        before=None,
        limit=MAX_COUNTED,
    )
    waiting = [
        await emails.list_page(
            conn,
            EmailQuery(project_id=project_id, to=found.email, status=state, limit=MAX_COUNTED),
        )
        for state in WAITING
    ]
    ends = (
        (
            sum(len(page.data) for page in ended),
            "enrollment in sequences",
            "enrollments in sequences",
        ),
        (len(timed.data), "timed event", ""),
        (sum(len(page) for page in waiting), "email that waits", "emails that wait"),
    )
    parts = [_bounded(count, one, several) for count, one, several in ends]
    lists = counted(len(found.lists), "list")
    return ActPreview(
        found.email,
        f"It leaves {lists}. These end with it: {parts[0]}, {parts[1]}, and {parts[2]}, unless an "
        "email goes to others too. Emails that were sent, suppressions and the audit log stay: "
        "erase the person, from the page of the recipient, to end those too.",
    )


async def remove(context: PageContext, conn: Conn) -> str:
    """Remove a contact, and end all that is pending for it."""
    found = await _found(context, conn)
    gone = await contacts.remove(conn, context.seen.id, str(found.id))
    await note_act(
        conn,
        context.seen.id,
        action="contact.removed",
        subject=f"contact {found.id}",
        detail={"cancelled": gone.cancelled},
    )
    return project_path(context.seen.name, "contacts", done="removed", cancelled=gone.cancelled)


def _bounded(count: int, one: str, several: str) -> str:
    """Return a number with its noun; beyond MAX_COUNTED it is not exact. Pure."""
    if count < MAX_COUNTED:
        return counted(count, one, several)
    return f"{MAX_COUNTED} or more {several or f'{one}s'}"


def _given(form: ContactForm) -> dict[str, Any]:
    """Return the fields of a form but its attributes, as texts. Pure."""
    return form.model_dump(mode="json", exclude={"attributes"})


def _attributes(form: ContactForm, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the attributes of a form; those that are as before are the same values. Pure.

    Raises:
        InvalidField: field `attributes`; a line is none, or a value cannot be stored.
    """
    found = values_of(form.attributes or "", "attributes", before)
    for name, value in found.items():
        is_as_before = before is not None and name in before and before[name] is value
        refused = unstorable("", {name: value})
        if refused is not None and not is_as_before:
            raise InvalidField("attributes", f"{name[:100]}: {refused.why}")
    return found


def _without_nothing(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


async def _changed(context: PageContext, conn: Conn, contact_id: UUID, what: str) -> str:
    await note_act(
        conn,
        context.seen.id,
        action=f"contact.{what}",
        subject=f"contact {contact_id}",
        detail={},
    )
    return project_path(context.seen.name, "contacts", contact_id, done=what)


async def _found(context: PageContext, conn: Conn) -> Contact:
    contact_id = context.id_in_path("contact_id", "contact")
    return await contacts.find(conn, context.seen.id, str(contact_id))


async def _detail(context: PageContext, conn: Conn) -> ContactDetail:
    contact_id = context.id_in_path("contact_id", "contact")
    return await contacts.show(conn, context.seen.id, str(contact_id))


PAGES = (
    *form_pages(
        f"{PATH}/new",
        Right.MANAGE_RECIPIENTS,
        FormPage(
            "Add a contact",
            "Add the contact",
            ContactForm,
            add,
            lead="A contact is a person that the project writes to. Only the address is needed.",
        ),
    ),
    *form_pages(
        f"{CONTACT}/change",
        Right.MANAGE_RECIPIENTS,
        FormPage(
            "Change the contact",
            "Save the contact",
            ContactForm,
            change,
            consequence="Emails that are made from now on have what is saved here. A field that is "
            "emptied, and an attribute whose line is deleted, is removed.",
            named=name,
            first=first,
        ),
    ),
    *button_pages(
        f"{CONTACT}/remove",
        Right.MANAGE_RECIPIENTS,
        ActPage(
            "Remove the contact",
            "Remove the contact",
            preview_removal,
            remove,
            is_destructive=True,
        ),
        step_up=True,
    ),
)
