"""Values of a parsed bounce message."""

from dataclasses import dataclass
from enum import StrEnum


class BounceKind(StrEnum):
    """Kind of a message that came back."""

    REPORT = "dsn"  # RFC 3464
    COMPLAINT = "arf"  # RFC 5965
    TEXT = "text"  # a bounce in free text
    AUTOREPLY = "autoreply"
    RECEIPT = "receipt"  # RFC 8098: the recipient's mail program displayed it
    OTHER = "other"


class Fate(StrEnum):
    """Result of the delivery to one recipient."""

    HARD = "hard"  # the address does not exist
    SOFT = "soft"  # delivery was given up; the address may be valid
    POLICY = "policy"  # a refusal of the sender or the message, not of the address
    DELAYED = "delayed"
    DELIVERED = "delivered"
    COMPLAINED = "complained"
    IGNORED = "ignored"  # has no effect


class Cause(StrEnum):
    """Cause of a failure."""

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
    """Classification of a status code together with a text."""

    fate: Fate
    cause: Cause
    code: str = ""  # RFC 3463, "" where none was given


@dataclass(frozen=True, slots=True)
class ReportedRecipient:
    """What a message reports about one recipient; addresses as written, "" where none is given."""

    recipient: str
    reason: BounceReason
    detail: str = ""
    original_recipient: str = ""
    remote: str = ""  # host name of the server that refused
    feedback: str = ""  # the feedback type of a complaint


@dataclass(frozen=True, slots=True)
class ReturnedMail:
    """The parts of our own mail that the message returned; "" where it returned none."""

    message_id: str = ""
    email_id: str = ""  # from the email-id header of our mail
    recipients: tuple[str, ...] = ()
    return_path: str = ""
    envelope_id: str = ""


NOTHING_RETURNED = ReturnedMail()


@dataclass(frozen=True, slots=True)
class ParsedBounce:
    """A parsed bounce message."""

    kind: BounceKind
    recipients: tuple[ReportedRecipient, ...] = ()
    returned: ReturnedMail = NOTHING_RETURNED
    reporter: str = ""  # host name of the reporting server
    why: str = ""  # reason for the classification, for the log and for people
    is_complete: bool = True
