"""Bodies of contacts in SendGrid's API, and contacts as it shows them. Values only."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field, StrictFloat, StrictInt

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.contacts import Contact
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField

MAX_CONTACTS = 1_000
"""Contacts of one request, which are added or changed together."""
MAX_LISTS = 100
MAX_ASKED = 100
RESERVED = (
    *("address_line_1", "address_line_2", "city", "state_province_region", "postal_code"),
    *("country", "phone_number", "whatsapp", "line", "facebook", "unique_name"),
    *("external_id", "anonymous_id", "phone_number_id"),
)
"""Fields of SendGrid's that are attributes of the same name here."""
OTHER_ADDRESSES = "alternate_emails"


def _split(text: Any) -> Any:
    return text.split(",") if isinstance(text, str) else text


Ids = Annotated[list[UUID], BeforeValidator(_split), Field(min_length=1, max_length=MAX_ASKED)]
"""Ids as a list, or separated by commas."""


class SendGridContact(RequestModel):
    """A contact in the body of PUT /v3/marketing/contacts."""

    email: StorableText
    first_name: StorableText | None = None
    last_name: StorableText | None = None
    alternate_emails: list[StorableText] | None = None
    address_line_1: StorableText | None = None
    address_line_2: StorableText | None = None
    city: StorableText | None = None
    state_province_region: StorableText | None = None
    postal_code: StorableText | None = None
    country: StorableText | None = None
    phone_number: StorableText | None = None
    whatsapp: StorableText | None = None
    line: StorableText | None = None
    facebook: StorableText | None = None
    unique_name: StorableText | None = None
    external_id: StorableText | None = None
    anonymous_id: StorableText | None = None
    phone_number_id: StorableText | None = None
    custom_fields: dict[StorableText, StorableText | StrictInt | StrictFloat | None] | None = None

    def fields(self) -> dict[str, Any]:
        """Return the fields of the contact that are given; an empty name removes it. Pure.

        Raises:
            InvalidField: the address is invalid, or a custom field has the name of another field.
        """
        try:
            found: dict[str, Any] = {"email": parse_address(self.email).sent}
        except InvalidAddress as exc:
            raise InvalidField("email", str(exc)) from None
        given = self.model_fields_set
        found |= {
            name: getattr(self, name) or None
            for name in ("first_name", "last_name")
            if name in given
        }
        attributes = {
            name: getattr(self, name) for name in (*RESERVED, OTHER_ADDRESSES) if name in given
        }
        for name, value in (self.custom_fields or {}).items():
            if name in self.__class__.model_fields:
                raise InvalidField("custom_fields", f"{name} is not the name of a custom field")
            attributes[name] = value
        if attributes:
            found["attributes"] = attributes
        return found


class PutContacts(RequestModel):
    """The body of PUT /v3/marketing/contacts."""

    list_ids: Annotated[list[UUID], Field(max_length=MAX_LISTS)] = Field(default_factory=list)
    contacts: Annotated[list[SendGridContact], Field(min_length=1, max_length=MAX_CONTACTS)]


class ContactIds(RequestModel):
    """The body of POST /v3/marketing/contacts/batch."""

    ids: Ids


class ContactAddresses(RequestModel):
    """The body of POST /v3/marketing/contacts/search/emails."""

    emails: Annotated[list[StorableText], Field(min_length=1, max_length=MAX_ASKED)]


class ContactIdentifiers(RequestModel):
    """The body of POST /v3/marketing/contacts/search/identifiers/{identifier_type}."""

    identifiers: Annotated[list[StorableText], Field(min_length=1, max_length=MAX_ASKED)]


def shown(one: Contact, list_ids: Sequence[UUID]) -> dict[str, Any]:
    """Return a contact as SendGrid shows it: what it has no field for is a custom field. Pure."""
    attributes: Mapping[str, Any] = one.attributes
    others = attributes.get(OTHER_ADDRESSES)
    return {
        "id": one.id,
        "email": one.email,
        "first_name": one.first_name or "",
        "last_name": one.last_name or "",
        OTHER_ADDRESSES: others if isinstance(others, list) else [],
        **{name: attributes.get(name) or "" for name in RESERVED},
        "list_ids": list_ids,
        "segment_ids": [],
        "custom_fields": {
            name: value
            for name, value in attributes.items()
            if name not in RESERVED and name != OTHER_ADDRESSES
        },
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }
