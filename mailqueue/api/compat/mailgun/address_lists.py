"""Lists of suppressed addresses in Mailgun's API: requests, items and Mailgun's words."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Literal

from pydantic import Field, field_validator

from mailqueue.api.compat.suppressed.lists import MAX_ID
from mailqueue.api.compat.suppressed.model import (
    ALL_EMAIL,
    ALL_OPTIONAL,
    BOUNCED,
    CHOSEN,
    COMPLAINED,
    SuppressedAddress,
    SuppressedList,
)
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.webhooks.formats.values import reply_code_in

MAX_LISTED = 1_000
EVERY_TAG = "*"
_CODE = re.compile(r"[245]\d\d")
_PERMANENT = "550"


class MailgunAddress(RequestModel):
    """An address to add to a list."""

    address: StorableText


class MailgunBounce(MailgunAddress):
    """An address to add to the bounces."""

    code: StorableText = _PERMANENT
    error: StorableText = ""

    @field_validator("code", mode="before")
    @classmethod
    def _code(cls, given: Any) -> Any:
        code = str(given) if isinstance(given, int) else given
        if isinstance(code, str) and not _CODE.fullmatch(code):
            raise ValueError("must be an SMTP reply code, such as 550")
        return code


class MailgunUnsubscribe(MailgunAddress):
    """An address to add to the unsubscribes."""

    tag: StorableText | None = None
    tags: list[StorableText] = Field(default_factory=list, max_length=1)

    @field_validator("tag", "tags")
    @classmethod
    def _every(cls, given: Any) -> Any:
        if given not in (None, [], EVERY_TAG, [EVERY_TAG]):
            raise ValueError('must be "*": addresses do not unsubscribe from tags')
        return given


class MailgunPage(RequestModel):
    """The query of a list; `id` stands in the URLs of pages, for an address that was removed."""

    limit: int = Field(default=100, ge=1, le=MAX_LISTED)
    page: Literal["", "first", "next", "previous", "last"] = ""
    address: StorableText | None = None
    id: int | None = Field(default=None, ge=0, le=MAX_ID)
    term: StorableText | None = None


@dataclass(frozen=True, slots=True)
class MailgunList:
    """One list: its addresses, the model of an addition, and Mailgun's words."""

    name: str
    addresses: SuppressedList
    reason: str
    model: type[MailgunAddress]
    shown: Callable[[SuppressedAddress], Mapping[str, Any]]
    removed: str
    missing: str


def _bounce(one: SuppressedAddress) -> Mapping[str, Any]:
    code = reply_code_in(one.detail or "")
    return {"code": str(code or _PERMANENT), "error": one.detail or ""}


def _tags(one: SuppressedAddress) -> Mapping[str, Any]:
    every = (ALL_EMAIL, ALL_OPTIONAL)
    return {"tags": list(dict.fromkeys(EVERY_TAG if c in every else c for c in one.categories))}


LISTS = (
    MailgunList(
        name="bounces",
        addresses=SuppressedList(BOUNCED),
        reason="hard_bounce",
        model=MailgunBounce,
        shown=_bounce,
        removed="Bounced address has been removed",
        missing="Address not found in bounces table",
    ),
    MailgunList(
        name="complaints",
        addresses=SuppressedList(COMPLAINED),
        reason="complaint",
        model=MailgunAddress,
        shown=lambda _: {},
        removed="Spam complaint has been removed",
        missing="No spam complaints found for this address",
    ),
    MailgunList(
        name="unsubscribes",
        addresses=SuppressedList(CHOSEN),
        reason="unsubscribed",
        model=MailgunUnsubscribe,
        shown=_tags,
        removed="Unsubscribe event has been removed",
        missing="Address not found in unsubscribers table",
    ),
)


def stamp(at: datetime) -> str:
    """Return a time in Mailgun's format. Pure."""
    return format_datetime(at.astimezone(UTC), usegmt=True).replace("GMT", "UTC")
