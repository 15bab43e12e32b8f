"""Values of the API's responses. Fields that a newer server adds are left out."""

from dataclasses import dataclass

from mailqueue.contract import sending
from mailqueue.contract.emails import (
    Acted,
    Attempt,
    Email,
    Event,
    ListedEmail,
    Moment,
    Recipient,
)
from mailqueue.contract.page import Page
from mailqueue.contract.sending import Batch, BatchResult, BatchState, Uploaded
from mailqueue.contract.suppression import (
    AddedSuppression,
    CheckedSuppression,
    RemovedSuppression,
    Suppression,
)
from mailqueue.contract.templates import Preview, Template, TemplateVersion

__all__ = [
    "Acted",
    "AddedSuppression",
    "Attempt",
    "Batch",
    "BatchResult",
    "BatchState",
    "CheckedSuppression",
    "Email",
    "Event",
    "ListedEmail",
    "Moment",
    "Page",
    "Preview",
    "Recipient",
    "RemovedSuppression",
    "Sent",
    "Suppression",
    "Template",
    "TemplateVersion",
    "Uploaded",
]


@dataclass(frozen=True, slots=True)
class Sent(sending.Sent):
    """Result of queuing an email: queued, or suppressed with the reason."""

    is_repeated: bool = False
    """Whether an earlier request under the same key brought it."""
