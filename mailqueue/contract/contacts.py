"""What callers see of contacts and lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.contract.suppression import BadLine, ListEncoding
from mailqueue.contract.value import Value


class OptIn(StrEnum):
    """Which contacts of a list get mail to it."""

    NONE = "none"  # all
    RECORDED = "recorded"  # those whose consent is recorded
    CONFIRMED = "confirmed"  # those that confirmed by a link in a mail


class MemberStatus(StrEnum):
    """Whether a contact of a list gets mail to it."""

    ACTIVE = "active"  # mail to the list goes to it
    PENDING = "pending"  # it was added, and has not confirmed that


@dataclass(frozen=True, slots=True)
class Contact(Value):
    """A person that the project writes to."""

    id: UUID
    email: str
    first_name: str | None
    last_name: str | None
    time_zone: str | None
    """IANA name, such as `Europe/Berlin`."""
    date_of_birth: date | None
    language: str | None
    """Such as `en` or `pt-BR`."""
    attributes: Mapping[str, Any]
    """Values by name, chosen by the project."""
    consented_at: datetime | None
    """When the person agreed to receive mail; null where that is not known."""
    consent_source: str | None
    consent_wording: str | None
    """What the person agreed to, in the words that were shown."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Membership(Value):
    """A list that a contact was added to."""

    list: str
    is_pending: bool
    """Whether the contact has not confirmed yet, and gets no mail to the list."""
    confirmed_at: datetime | None
    added_at: datetime


@dataclass(frozen=True, slots=True)
class ContactDetail(Contact):
    """A contact, and the lists that it was added to."""

    lists: Sequence[Membership]


@dataclass(frozen=True, slots=True)
class RemovedContact(Value):
    """A contact that was removed."""

    id: UUID
    email: str
    cancelled: int
    """Number of unfinished emails that were cancelled."""


@dataclass(frozen=True, slots=True)
class ImportedContacts(Value):
    """Result of an import."""

    added: int
    changed: int
    unchanged: int
    bad: int
    errors: Sequence[BadLine]
    """The first bad lines."""
    encoding: ListEncoding
    """How the file was read."""
    dry_run: bool


@dataclass(frozen=True, slots=True)
class ContactList(Value):
    """A list of contacts: those that were added to it, or all that satisfy its condition."""

    id: UUID
    name: str
    description: str | None
    condition: str | None
    """jsonpath on the fields of a contact; null: contacts are added one by one."""
    opt_in: OptIn
    """Which contacts get mail to the list: `none`: all; `recorded`: those whose consent is
    recorded; `confirmed`: those that confirmed by a link in a mail.
    """
    confirm_template: str | None
    """Template of the email that asks to confirm; null for the built-in text."""
    created_by: str
    created_at: datetime
    updated_at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "opt_in", OptIn(self.opt_in))


@dataclass(frozen=True, slots=True)
class ContactLists(Value):
    """All lists of the project, by name."""

    data: Sequence[ContactList]


@dataclass(frozen=True, slots=True)
class ListCount(Value):
    """Number of contacts that mail to a list would go to."""

    contacts: int
    """Contacts that are in the list."""
    pending: int
    """Contacts that were added and have not confirmed: they get no mail."""
    checked: int
    """How many of the contacts were compared with the suppressions."""
    suppressed: int
    """How many of these are suppressed."""


@dataclass(frozen=True, slots=True)
class BegunListSend(Value):
    """A batch whose email to the contacts of a list workers make."""

    batch_id: UUID
    list: str


@dataclass(frozen=True, slots=True)
class ChangedMembers(Value):
    """Result of adding contacts to a list, or of removing them."""

    changed: int
    """How many were not in the list before, or were."""


@dataclass(frozen=True, slots=True)
class ConditionTrial(Value):
    """The contacts that a condition selects."""

    contacts: int
    examples: Sequence[Contact]
    """Some of them."""
