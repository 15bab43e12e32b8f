"""Categories that people subscribe to, and their choices. Values only."""

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
    """The recipient whose link was followed, and how the pages of the project look."""

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
    """A choice for one category."""

    category: str
    state: SubscriptionState
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChoiceOrigin:
    """Where and by whom a choice was made; `user_agent` None: not to be stored."""

    source: ChoiceSource
    user_agent: str | None = None
    by: str = "recipient"
