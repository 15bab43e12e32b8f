"""What became of a test email, for a person who waits for it. Pure."""

from collections.abc import Collection
from dataclasses import dataclass

from mailqueue.contract.emails import Email

_UNFINISHED = frozenset({"pending", "assigned", "held"})
_RETURNED = frozenset({"hard_bounce", "soft_bounce", "failed"})


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of an email so far; `is_over` if nothing more is waited for."""

    text: str
    is_over: bool = False
    detail: str | None = None


def arrival_of(email: Email, *, trapping: Collection[str]) -> Arrival:
    """Return what became of an email; `trapping` are the names of accounts of the mail trap."""
    if email.status in _UNFINISHED:
        return Arrival(f"On its way to {email.recipient_email}.", detail=email.why)
    if email.status != "sent":
        return Arrival("Not delivered.", is_over=True, detail=email.why)
    if email.sender in trapping:
        text = "Caught by the mail trap, not delivered: the project has no other sender account."
        return Arrival(text, is_over=True)
    for event in reversed(email.events):  # the newest report counts
        if event.type in _RETURNED:
            return Arrival("It came back.", is_over=True, detail=event.detail)
        if event.type == "delivered":
            return Arrival(f"Delivered to {email.recipient_email}.", is_over=True)
    text = f"Delivered to the server of {email.sender}, for {email.recipient_email}."
    return Arrival(text, is_over=True, detail="Look into the mailbox, and into its spam folder.")
