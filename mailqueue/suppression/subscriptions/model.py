"""Values: categories of mail, and the choices of recipients."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

EVERYTHING = "*"
"""Stands for marketing and every category that is not required."""
MARKETING = "marketing"


class SubscriptionState(StrEnum):
    """State of a subscription to a category."""

    ON = "on"
    OFF = "off"
    PAUSED = "paused"


class ChoiceSource(StrEnum):
    """Where a choice was made."""

    ONE_CLICK = "one-click"  # RFC 8058: the unsubscribe button of a mail program
    PAGE = "page"
    CENTRE = "preference centre"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class LinkRecipient:
    """The recipient whose link was opened, and the design of the project's pages."""

    email_id: UUID
    project_id: UUID
    project: str  # display name of the project
    brand_color: str | None
    logo: UUID | None  # token of its public URL
    page_texts: Mapping[str, Mapping[str, str]] | None  # the project's own, by language and name
    address: str
    category: str  # category of the mail
    campaign_id: str | None
    language: str | None  # language of the mail


@dataclass(frozen=True, slots=True)
class Subscription:
    """State of one category for a recipient; `name` is empty where the project has not defined it.

    `stopped` is true where it was suppressed for a reason the recipient did not choose.
    """

    slug: str
    name: str
    description: str | None
    translations: Mapping[str, Mapping[str, str]]
    is_required: bool
    state: SubscriptionState
    until: datetime | None  # end of the pause, if it is paused
    stopped: bool


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """State of all categories for a recipient; `has_left_all`: unsubscribed from all."""

    reader: LinkRecipient
    categories: tuple[Subscription, ...]
    has_left_all: bool
    is_stopped: bool  # suppressed for a reason the recipient did not choose, such as a bounce


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice for one category."""

    category: str
    state: SubscriptionState
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChoiceOrigin:
    """Where and by whom a choice was made; `user_agent` or `network` None: not to be stored."""

    source: ChoiceSource
    user_agent: str | None = None
    network: str | None = None  # of the client: /24, or /48 for IPv6
    by: str = "recipient"
