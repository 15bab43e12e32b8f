"""Types of provider events and reasons of provider suppressions. Values only."""

from enum import StrEnum

ID_NAME = "mailqueue_id"
"""Name of the metadata with the email's id, which sending adapters pass to the provider."""
ID_HEADER = "x-mailqueue-id"


class ProviderEventType(StrEnum):
    """Event types; the same values as `events.model.Type`."""

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
    FAILED = "failed"  # the provider did not try to deliver


class ProviderSuppression(StrEnum):
    """The reason for which a provider suppresses an address."""

    HARD_BOUNCE = "hard_bounce"
    COMPLAINT = "complaint"
    UNSUBSCRIBED = "unsubscribed"
    MANUAL = "manual"
