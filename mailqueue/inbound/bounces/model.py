"""What a message that came back says. Values only."""

from dataclasses import dataclass
from enum import StrEnum


class BounceKind(StrEnum):
    """What kind of message it is."""

    REPORT = "dsn"  # RFC 3464
    COMPLAINT = "arf"  # RFC 5965
    TEXT = "text"  # a bounce in words of its own
    AUTOREPLY = "autoreply"
    RECEIPT = "receipt"  # RFC 8098: somebody's program read it
    OTHER = "other"


class Fate(StrEnum):
    """What became of the mail at one recipient."""

    HARD = "hard"  # there is no such address
    SOFT = "soft"  # given up, and the address may be fine
    POLICY = "policy"  # about us or about the message, never about the address
    DELAYED = "delayed"
    DELIVERED = "delivered"
    COMPLAINED = "complained"
    IGNORED = "ignored"  # says nothing that counts


class Cause(StrEnum):
    """Why, in our words."""

    UNKNOWN_USER = "unknown_user"
    UNKNOWN_HOST = "unknown_host"
    MOVED = "moved"
    DISABLED = "disabled"
    FULL = "full"
    SIZE = "size"
    POLICY = "policy"
    CONTENT = "content"
    RATE = "rate"
    RELAY = "relay"
    NETWORK = "network"
    EXPIRED = "expired"
    SYSTEM = "system"
    LOOP = "loop"
    UNSAID = "unsaid"


@dataclass(frozen=True, slots=True)
class BounceReason:
    """What a code and a text mean together."""

    fate: Fate
    cause: Cause
    code: str = ""  # RFC 3463, "" where none was given


@dataclass(frozen=True, slots=True)
class ReportedRecipient:
    """What is told of one recipient; the addresses are as written, "" where none is."""

    recipient: str
    reason: BounceReason
    detail: str = ""
    original_recipient: str = ""
    remote: str = ""  # the server that refused
    feedback: str = ""  # the type of a complaint


@dataclass(frozen=True, slots=True)
class ReturnedMail:
    """What of our mail came back with it, "" where it did not."""

    message_id: str = ""
    email_id: str = ""  # of our own header
    recipients: tuple[str, ...] = ()
    return_path: str = ""
    envelope_id: str = ""


NOTHING_RETURNED = ReturnedMail()


@dataclass(frozen=True, slots=True)
class ParsedBounce:
    """A message that came back, understood as far as it goes."""

    shape: BounceKind
    told: tuple[ReportedRecipient, ...] = ()
    returned: ReturnedMail = NOTHING_RETURNED
    reporter: str = ""  # the server that reports
    why: str = ""  # why it is what it is, for those who wonder
    is_complete: bool = True
