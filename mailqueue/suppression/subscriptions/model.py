"""What people can subscribe to, and what they chose. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

EVERYTHING = "*"
"""All that one can unsubscribe from: marketing, and every category that is not required."""
MARKETING = "marketing"


class SubscriptionState(StrEnum):
    """Whether mail of a category goes to somebody."""

    ON = "on"
    OFF = "off"
    PAUSED = "paused"


class ChoiceSource(StrEnum):
    """By which way somebody said what they want."""

    ONE_CLICK = "one-click"  # RFC 8058: a button of their mail program
    PAGE = "page"
    CENTRE = "preference centre"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """A kind of mail, as its project words it; `translations` by language, then field."""

    slug: str
    name: str
    description: str | None
    translations: Mapping[str, Mapping[str, str]]
    is_required: bool
    place: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose link was followed, and what the pages of their project look like."""

    email_id: UUID
    project_id: UUID
    project: str  # as it calls itself
    brand_color: str | None
    address: str
    category: str  # of the mail
    campaign_id: str | None
    language: str | None  # of the mail


@dataclass(frozen=True, slots=True)
class Subscription:
    """What holds for somebody in one category; `name` is empty where it is none of the project's.

    `stopped` is True where it is none of their doing.
    """

    slug: str
    name: str
    description: str | None
    translations: Mapping[str, Mapping[str, str]]
    is_required: bool
    state: SubscriptionState
    until: datetime | None  # where it is paused
    stopped: bool


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """What holds for somebody in all categories; `has_left_all`: they unsubscribed from all."""

    reader: Reader
    categories: tuple[Subscription, ...]
    has_left_all: bool
    is_stopped: bool  # for a reason that is none of theirs, such as a bounce


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody wants of one category."""

    category: str
    state: SubscriptionState
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChoiceOrigin:
    """How they said it; `user_agent` is None where they want none kept."""

    source: ChoiceSource
    user_agent: str | None = None
    by: str = "recipient"
