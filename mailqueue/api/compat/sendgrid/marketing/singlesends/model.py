"""Bodies of single sends in SendGrid's API, and single sends as it shows them. Values only."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field

from mailqueue.api.compat.broadcasts.store import SINGLE_SEND, Broadcast, SoughtBroadcasts
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.core.errors import InvalidField

MAX_NAME = 100
MAX_LISTED = 100
_Name = Annotated[StorableText, Field(min_length=1, max_length=MAX_NAME)]
_Category = Annotated[StorableText, Field(min_length=1, max_length=128)]
_Categories = Annotated[list[_Category], Field(max_length=10)]
_Id = Annotated[UUID, Field(strict=False)]
_Url = Annotated[StorableText, Field(max_length=2_000)]


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be in the years 1 to 9999 in UTC") from None


_At = Annotated[AwareDatetime, Field(strict=False), AfterValidator(_in_utc)]
SingleSendStatus = Literal["draft", "scheduled", "triggered"]
_STATUS: Mapping[str, SingleSendStatus] = {
    "draft": "draft",
    "canceled": "triggered",
    "scheduled": "scheduled",
    "queued": "scheduled",
    "sent": "triggered",
    "failed": "triggered",
}
_NO_MAIL: Mapping[str, Any] = {
    "subject": "",
    "html_content": "",
    "plain_content": "",
    "generate_plain_content": True,
    "design_id": "",
    "editor": "code",
    "suppression_group_id": None,
    "custom_unsubscribe_url": None,
    "sender_id": None,
    "ip_pool": None,
}


class SingleSendRecipients(StrictRequestModel):
    """Who a single send is sent to."""

    list_ids: Annotated[list[_Id], Field(max_length=50)] | None = None
    segment_ids: Annotated[list[_Id], Field(max_length=10)] | None = None
    all: bool | None = None


class SingleSendMail(StrictRequestModel):
    """The mail of a single send."""

    subject: Annotated[StorableText, Field(max_length=998)] | None = None
    html_content: StorableText | None = None
    plain_content: StorableText | None = None
    generate_plain_content: bool | None = None
    design_id: StorableText | None = None
    editor: Literal["code", "design"] | None = None
    suppression_group_id: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    custom_unsubscribe_url: _Url | None = None
    sender_id: Annotated[int, Field(ge=0, le=2**53)] | None = None
    ip_pool: _Name | None = None


class ChangedSingleSend(StrictRequestModel):
    """The body of PATCH /v3/marketing/singlesends/{broadcast_id}; what is left out stays."""

    name: _Name | None = None
    categories: _Categories | None = None
    send_at: _At | None = None
    send_to: SingleSendRecipients | None = None
    email_config: SingleSendMail | None = None

    def content(self) -> dict[str, Any]:
        """Return the fields that are given, but the name.

        Raises:
            InvalidField: one has no counterpart here.
        """
        mail, to = self.email_config, self.send_to
        if to is not None and to.all:
            raise InvalidField("send_to.all", "is not supported: name a list or a segment")
        for name in ("design_id", "custom_unsubscribe_url", "ip_pool"):
            if mail is not None and getattr(mail, name):
                raise InvalidField(f"email_config.{name}", "is not supported here")
        return self.model_dump(mode="json", exclude_unset=True, exclude={"name"})


class NewSingleSend(ChangedSingleSend):
    """The body of POST /v3/marketing/singlesends."""

    name: _Name


class CopiedSingleSend(StrictRequestModel):
    """The body of POST /v3/marketing/singlesends/{broadcast_id}."""

    name: _Name | None = None


class ScheduledSingleSend(StrictRequestModel):
    """The body of PUT /v3/marketing/singlesends/{broadcast_id}/schedule."""

    send_at: Literal["now"] | _At
    status: SingleSendStatus | None = None


class SoughtSingleSends(StrictRequestModel):
    """The body of POST /v3/marketing/singlesends/search."""

    name: _Name | None = None
    status: Annotated[list[SingleSendStatus], Field(max_length=3)] | None = None
    categories: Annotated[list[_Category], Field(max_length=100)] | None = None

    def to_sought(self) -> SoughtBroadcasts:
        """Return what is sought."""
        status = None if self.status is None else list[str](self.status)
        return SoughtBroadcasts(self.name, self.categories or None, status or None)


class SingleSendsQuery(RequestModel):
    """The query of lists of single sends; `page_token` is the id of the last one before."""

    page_size: int = Field(default=10, ge=1, le=MAX_LISTED)
    page_token: UUID | None = None


def merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a single send after a change of some. Pure."""
    found = {**before, **given}
    for name in ("send_to", "email_config"):
        if given.get(name) is not None:
            found[name] = {**(before.get(name) or {}), **given[name]}
    return found


def said_of(one: Broadcast) -> dict[str, Any]:
    """Return what clients wrote of a single send, but its name."""
    said: dict[str, Any] = one.content[SINGLE_SEND]
    return said


def status_of(one: Broadcast) -> SingleSendStatus:
    """Return the status; one whose schedule was cancelled elsewhere before it made mail is a draft
    again.
    """
    return "draft" if is_draft_again(one) else _STATUS[one.status]


def is_draft_again(one: Broadcast) -> bool:
    """Return whether the schedule was cancelled elsewhere before there was mail of it. Pure."""
    return one.status == "canceled" and one.schedule_id is not None and not one.has_mail


def categories_of(one: Broadcast) -> list[str]:
    """Return the categories in order, each once."""
    return list(dict.fromkeys(said_of(one).get("categories") or ()))


def listed(one: Broadcast) -> dict[str, Any]:
    """Return a single send as lists show it."""
    return {
        "id": one.id,
        "name": one.name,
        "abtest": None,
        "status": status_of(one),
        "categories": categories_of(one),
        "send_at": stamp_of(one),
        "is_abtest": False,
        "updated_at": one.updated_at,
        "created_at": one.created_at,
    }


def shown(one: Broadcast) -> dict[str, Any]:
    """Return a single send with its mail."""
    said = said_of(one)
    to = said.get("send_to") or {}
    mail = {name: value for name, value in (said.get("email_config") or {}).items() if value}
    generates = (said.get("email_config") or {}).get("generate_plain_content")
    return {
        "id": one.id,
        "name": one.name,
        "status": status_of(one),
        "categories": categories_of(one),
        "send_at": stamp_of(one),
        "send_to": {
            "list_ids": to.get("list_ids") or [],
            "segment_ids": to.get("segment_ids") or [],
            "all": False,
        },
        "updated_at": one.updated_at,
        "created_at": one.created_at,
        "email_config": {
            **_NO_MAIL,
            **mail,
            "generate_plain_content": generates is not False,
        },
        "warnings": [],
    }


def stamp_of(one: Broadcast) -> datetime | str | None:
    """Return when a single send is sent, or what its draft says."""
    at: str | None = said_of(one).get("send_at")
    return one.scheduled_at or at
