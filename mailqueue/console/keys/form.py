"""The forms of API keys: what was typed, as the arguments of the verbs. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import IssuedKey, Scope
from mailqueue.web.forms import text_of

MAX_REASON = 500
"""Maximum length in characters of a reason, which stands in the audit log."""
MEANINGS: Mapping[Scope, str] = {
    Scope.EMAIL_SEND: "send, cancel and release emails, upload files",
    Scope.EMAIL_READ: "read emails and batches",
    Scope.TEMPLATE_READ: "read templates",
    Scope.TEMPLATE_WRITE: "change templates",
    Scope.ANALYTICS_READ: "read statistics",
    Scope.SUPPRESSION_MANAGE: "read and change suppressions",
    Scope.WEBHOOK_MANAGE: "read and change webhooks",
    Scope.PROJECT_READ: "read keys, sender accounts and signing keys",
    Scope.PROJECT_WRITE: "change keys, sender accounts and signing keys",
    Scope.CONTACTS_READ: "read contacts and lists",
    Scope.CONTACTS_WRITE: "change contacts and lists",
}
LIVES = (
    ("", "no end"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "one year"),
)
GRACES = (
    ("24", "24 hours"),
    ("0", "no time: it ends at once"),
    ("1", "1 hour"),
    ("168", "7 days"),
    ("720", "30 days"),
)
SCOPE_FIELDS = tuple(f"scope-{scope}" for scope in Scope)
USUAL = {"scope-email:send": "on", "scope-email:read": "on", "mode": "live"}
"""What the form of a new key holds at first."""


@dataclass(frozen=True, slots=True)
class KeyForm:
    """A key as it was asked for."""

    name: str
    scopes: list[Scope]
    is_test: bool
    lasts: timedelta | None
    requests_per_second: int | None


def new_key(form: Mapping[str, str]) -> KeyForm:
    """Return the key that a form asks for.

    Raises:
        InvalidField: a number cannot be read, or no scope or none of the times is chosen.
    """
    scopes = [scope for scope in Scope if form.get(f"scope-{scope}") == "on"]
    if not scopes:
        raise InvalidField("scopes", "choose at least one")
    days = text_of(form, "expires")
    if days not in dict(LIVES):
        raise InvalidField("expires", "choose one of the times offered")
    return KeyForm(
        name=text_of(form, "name"),
        scopes=scopes,
        is_test=form.get("mode") == "test",
        lasts=timedelta(days=int(days)) if days else None,
        requests_per_second=whole_number(form, "requests_per_second"),
    )


def grace(form: Mapping[str, str]) -> timedelta:
    """Return how long a form lets the old key stay valid.

    Raises:
        InvalidField: the value is not one of those offered.
    """
    hours = text_of(form, "grace")
    if hours not in dict(GRACES):
        raise InvalidField("grace", "choose one of the times offered")
    return timedelta(hours=int(hours))


def reason(form: Mapping[str, str]) -> str:
    """Return the reason of a form.

    Raises:
        InvalidField: there is none, or it is too long.
    """
    text = text_of(form, "reason")
    if not text or len(text) > MAX_REASON:
        raise InvalidField("reason", f"must have 1 to {MAX_REASON} characters")
    return text


def whole_number(form: Mapping[str, str], name: str) -> int | None:
    """Return a number of a form; None for an empty field.

    Raises:
        InvalidField: the text is not a number of at most 15 digits.
    """
    text = text_of(form, name)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise InvalidField(name, "must be a whole number")
    return int(text)


def trial(origin: str, issued: IssuedKey) -> str:
    """Return a command that tries a new key; empty where its scopes allow none of them."""
    begin = f"curl {origin}/v1/{{}} -H 'X-API-Key: {issued.key.reveal()}'"
    if Scope.EMAIL_SEND in issued.record.scopes:
        return (
            begin.format("send") + " -H 'Content-Type: application/json' \\\n"
            '    -d \'{"to": ["you@example.com"], "subject": "Hello", "text_body": "It works."}\''
        )
    return begin.format("emails") if Scope.EMAIL_READ in issued.record.scopes else ""
