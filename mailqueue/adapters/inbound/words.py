"""The words in which events are told, and how a refusal is told from another. Values only."""

from enum import StrEnum

ID_NAME = "mailqueue_id"
"""Under this name our sending adapters hand the id of a mail to a provider."""
ID_HEADER = "x-mailqueue-id"


class Happened(StrEnum):
    """Types of event, as `events.model.Type` has them."""

    SENT = "sent"
    DELIVERED = "delivered"
    DEFERRED = "deferred"
    HARD_BOUNCE = "hard_bounce"
    SOFT_BOUNCE = "soft_bounce"
    COMPLAINT = "complaint"
    OPENED = "opened"
    CLICKED = "clicked"
    UNSUBSCRIBED = "unsubscribed"
    RESUBSCRIBED = "resubscribed"
    FAILED = "failed"  # the provider refused to try


class Because(StrEnum):
    """Why a provider itself suppresses an address."""

    HARD_BOUNCE = "hard_bounce"
    COMPLAINT = "complaint"
    UNSUBSCRIBED = "unsubscribed"
    MANUAL = "manual"
