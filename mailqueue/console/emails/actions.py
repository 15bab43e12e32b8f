"""What can be done with an email, by which role, and the consequence of each in words. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mailqueue.admin.users.model import Right
from mailqueue.operations.acting import STATES


@dataclass(frozen=True, slots=True)
class EmailAction:
    """One thing that can be done with an email."""

    name: str
    label: str
    button: str
    """The words of the button on the page that says what will happen."""
    right: Right
    done: str
    """The sentence that is shown afterwards."""
    consequences: Mapping[str, str]
    """What will happen, by the state of the email; an empty text for all others."""
    is_destructive: bool = False
    of_doubt: bool = False
    """Whether it is for an email only of which it is not known whether it was sent."""

    def consequence(self, status: str) -> str:
        """Return what will happen to an email in a state, in words."""
        return self.consequences.get(status) or self.consequences[""]


_AGAIN = (
    "It was not sent. It is queued again with the same id, and is sent as soon as the limits allow."
)
ACTIONS: Mapping[str, EmailAction] = {
    each.name: each
    for each in (
        EmailAction(
            "release",
            "Release",
            "Release the email",
            Right.CONTROL,
            "The email was released.",
            {"": "It returns to the queue, and is sent as soon as the limits allow."},
        ),
        EmailAction(
            "resend",
            "Send again",
            "Send again",
            Right.RESEND,
            "The email is queued to be sent again.",
            {
                "": _AGAIN,
                "sent": "It was sent before. Its recipients get it once more, as a new email with "
                "an id of its own. Suppressed recipients do not get it.",
                "suppressed": "It was not sent, because its recipients are suppressed. It is "
                "queued as a new email with an id of its own, for those whose suppression was "
                "lifted.",
            },
        ),
        EmailAction(
            "hold",
            "Hold",
            "Hold the email",
            Right.CONTROL,
            "The email is held.",
            {
                "": "It stays in the queue and is not sent until it is released. If it is not "
                "released before it expires, it is never sent."
            },
        ),
        EmailAction(
            "cancel",
            "Cancel",
            "Cancel the email",
            Right.CONTROL,
            "The email was cancelled, or is being cancelled.",
            {
                "": "It is not sent, and its recipients get nothing. It can be sent again later.",
                "assigned": "A worker has claimed it and may be sending it now. It is cancelled "
                "unless it was already sent.",
            },
            is_destructive=True,
        ),
        EmailAction(
            "move",
            "Move",
            "Move the email",
            Right.CONTROL,
            "The email was moved to the sender account.",
            {
                "": "It waits for the sender account that you choose, within the limits of that "
                "account. Attempts that were made count."
            },
        ),
        EmailAction(
            "was_sent",
            "It was sent",
            "It was sent",
            Right.CONTROL,
            "The email is finished as sent.",
            {
                "": "The email is finished as sent, and its recipients get nothing more. Choose "
                "this if the recipient or the server confirms it."
            },
            of_doubt=True,
        ),
        EmailAction(
            "was_not_sent",
            "It was not sent",
            "It was not sent",
            Right.CONTROL,
            "The email is queued to be sent.",
            {
                "": "The email is queued and sent. If it was sent before after all, its recipients "
                "get it twice."
            },
            of_doubt=True,
        ),
    )
}

LOUD: Mapping[str, str] = {
    "held": "release",
    **dict.fromkeys(("failed", "expired", "cancelled", "suppressed"), "resend"),
}
"""What people come for, by the state of an email that was not sent."""


def offered(
    status: str, rights: Collection[Right], *, is_in_doubt: bool = False
) -> list[EmailAction]:
    """Return the actions that the state of an email and the rights of a user allow."""
    return [
        action
        for action in ACTIONS.values()
        if action.right in rights
        and status in STATES[action.name]
        and (is_in_doubt or not action.of_doubt)
    ]
