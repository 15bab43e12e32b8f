"""Request bodies and queries of contacts and lists."""

from typing import Annotated, Literal

from pydantic import Field

from mailqueue.api.emails.schema import StorableObject, StorableText
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.contacts.lists import MAX_MEMBERS
from mailqueue.contract.contacts import MemberStatus
from mailqueue.suppression.lists.exporting import Format

PersonName = Annotated[StorableText, Field(min_length=1, max_length=100)]
ZoneName = Annotated[StorableText, Field(max_length=100)]
LanguageTag = Annotated[StorableText, Field(max_length=40)]
ListName = Annotated[StorableText, Field(max_length=63)]
Condition = Annotated[StorableText, Field(max_length=500)]
OptInWord = Literal["none", "recorded", "confirmed"]


class ChangeContact(StrictRequestModel):
    """Fields of a contact to change; omitted fields are unchanged, null removes one."""

    first_name: PersonName | None = None
    """First name."""
    last_name: PersonName | None = None
    """Last name."""
    time_zone: ZoneName | None = None
    """IANA name of the time zone, such as `Europe/Berlin`."""
    date_of_birth: Annotated[StorableText, Field(max_length=10)] | None = None
    """Date of birth, such as `1990-05-31`."""
    language: LanguageTag | None = None
    """Language, such as `en` or `pt-BR`."""
    attributes: StorableObject | None = None
    """Values by name, at most 100 names and 16 KiB; merged by name, and null removes one."""
    consented_at: Annotated[StorableText, Field(max_length=40)] | None = None
    """When the person agreed to receive mail: RFC 3339; now if omitted and the source or the
    wording is given.
    """
    consent_source: Annotated[StorableText, Field(max_length=200)] | None = None
    """Where the person agreed, such as the address of a form."""
    consent_wording: Annotated[StorableText, Field(max_length=2000)] | None = None
    """What the person agreed to, in the words that were shown."""


class MoveContact(ChangeContact):
    """Fields of a contact to change, its address among them."""

    email: Annotated[StorableText, Field(max_length=320)] | None = None
    """Address."""


class NewContact(ChangeContact):
    """A contact."""

    email: Annotated[StorableText, Field(max_length=320)]
    """Address, unique in the project in every spelling."""


class ContactsQuery(PageQuery):
    """Filters of a list of contacts."""

    q: Annotated[StorableText, Field(max_length=320)] | None = None
    """Text in the address."""
    language: LanguageTag | None = None
    """Filter by language."""
    time_zone: ZoneName | None = None
    """Filter by time zone."""
    condition: Condition | None = None
    """jsonpath that contacts must satisfy, such as `$.attributes.plan == "pro"`."""


class ImportContactsQuery(RequestModel):
    """What an import does."""

    list: ListName | None = None
    """Name of a list that the contacts are added to."""
    dry_run: bool = False
    """Read and check every line, and change nothing."""


class BeginImportQuery(RequestModel):
    """What an import in the background does."""

    list: ListName | None = None
    """Name of a list that the contacts are added to."""


class ExportContactsQuery(RequestModel):
    """What an export contains, and its format."""

    format: Format = Format.CSV
    """`csv` or `json`."""
    list: ListName | None = None
    """Contacts of this list only."""


class ChangeList(StrictRequestModel):
    """Fields of a list to change; omitted fields are unchanged."""

    description: Annotated[StorableText, Field(max_length=500)] | None = None
    """What the list is for."""
    condition: Condition | None = None
    """jsonpath that contacts must satisfy, such as `$.attributes.plan == "pro"`; null: contacts are
    added one by one.
    """
    opt_in: OptInWord | None = None
    """Which contacts get mail to the list: `none` (the default): all; `recorded`: those whose
    consent is recorded; `confirmed`: those that confirmed by a link in a mail.
    """
    confirm_template: Annotated[StorableText, Field(max_length=120)] | None = None
    """Template of the email that asks to confirm: slug, or slug@version, with the variables
    `confirm_url`, `contact` and `list`; null for the built-in text.
    """


class NewList(ChangeList):
    """A list of contacts."""

    name: ListName
    """Name: lower-case letters, digits, `-` and `_`. It may stand where a recipient may."""


class ListCountQuery(RequestModel):
    """The category of the mail."""

    category: Annotated[StorableText, Field(max_length=63)] = "transactional"
    """Category whose suppressions are counted."""


class ListMembersQuery(PageQuery):
    """The status of the contacts."""

    status: MemberStatus = MemberStatus.ACTIVE
    """`active`: those that mail to the list would go to; `pending`: those that were added and have
    not confirmed.
    """


class ListMembers(StrictRequestModel):
    """Contacts that are added to a list, or removed from it."""

    contacts: Annotated[
        list[Annotated[StorableText, Field(max_length=320)]],
        Field(min_length=1, max_length=MAX_MEMBERS),
    ]
    """Addresses or ids of contacts."""


class TryCondition(StrictRequestModel):
    """A condition to try."""

    condition: Condition
    """jsonpath that contacts must satisfy."""
