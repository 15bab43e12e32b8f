"""Queries and bodies of contacts in Resend's API. Values only."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field

from mailqueue.api.compat.resend.pages import ListPage
from mailqueue.api.compat.resend.topics import MAX_CHOICES, TopicChoice
from mailqueue.api.emails.schema import StorableObject, StorableText
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField

MAX_SEGMENTS = 100


def _plain(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    for name, value in properties.items():
        if isinstance(value, dict | list):
            raise ValueError(f"{name[:100]!r} must be a string, a number or a boolean")
    return properties


Properties = Annotated[StorableObject, AfterValidator(_plain)]


class ContactPage(ListPage):
    """The query of GET /contacts."""

    segment_id: UUID | None = None


class SegmentRef(RequestModel):
    """A segment that a new contact is added to."""

    id: UUID


class ContactFields(RequestModel):
    """Fields of a contact."""

    first_name: StorableText | None = None
    last_name: StorableText | None = None
    unsubscribed: bool | None = Field(default=None, strict=True)
    properties: Properties | None = None

    def fields(self, email: str | None) -> dict[str, Any]:
        """Return the fields of the contact that are given; an empty name removes it. Pure."""
        found: dict[str, Any] = {
            name: getattr(self, name) or None
            for name in ("first_name", "last_name")
            if name in self.model_fields_set
        }
        if self.properties is not None:
            found["attributes"] = self.properties
        if email is not None:
            if "@" not in email:
                raise InvalidField("email", "an address is needed")
            found["email"] = email
        return found


class ChangedContact(ContactFields):
    """The body of PATCH /contacts/{contact}; what is left out stays.

    The Python client sends `id` and `audience_id` along; those of the path count.
    """

    id: StorableText | None = None
    audience_id: StorableText | None = None
    email: StorableText | None = None


class AddedContact(ContactFields):
    """The body of POST /contacts."""

    email: StorableText
    audience_id: UUID | None = None
    topics: Annotated[list[TopicChoice], Field(max_length=MAX_CHOICES)] | None = None
    segments: Annotated[list[SegmentRef | UUID], Field(max_length=MAX_SEGMENTS)] | None = None

    def segment_ids(self) -> list[UUID]:
        """Return the ids of the segments that the contact is added to. Pure."""
        ids = [one if isinstance(one, UUID) else one.id for one in self.segments or ()]
        return ids if self.audience_id is None else [*ids, self.audience_id]
