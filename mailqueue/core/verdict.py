"""What a transport says about one mail, in our words. Values only."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Whom a refusal concerns, and so what the queue does next."""

    TRANSIENT = "transient"  # nothing accepted, a fault that passes
    RATE_LIMITED = "rate_limited"  # nothing accepted: a rate or quota of our account is used up
    AMBIGUOUS = "ambiguous"  # all bytes handed over, no verdict read
    PERMANENT_RECIPIENT = "permanent_recipient"  # this address will not be delivered
    PERMANENT_MESSAGE = "permanent_message"  # the message itself is refused
    ACCOUNT = "account"  # our account at this server: credentials, quota, sender not allowed
    INFRASTRUCTURE = "infrastructure"  # about us (blocklist, policy); the recipient is fine
    UNRECOGNIZED = "unrecognized"  # refused in words that nobody knows: whom it concerns is open


class Stage(StrEnum):
    """How far the conversation was when the verdict fell."""

    CONNECT = "connect"  # before MAIL FROM: connect, greeting, TLS, EHLO, AUTH
    MAIL = "mail"
    RCPT = "rcpt"
    DATA = "data"
    DOT = "dot"  # all bytes sent


@dataclass(frozen=True, slots=True)
class Rejected:
    """The mail, or one recipient of it, was not accepted.

    `code` is the SMTP or HTTP code as text, "" where none was read. `enhanced` is the RFC 3463 code
    or "". `hard` is evidence that the address does not exist: only this may suppress it.
    `retry_after` is the wait the server asked for. `is_quota` is set where a quota of hours or days
    is used up: without a time named, the first pause is longer. `stops` is set where the account
    must send nothing more before a person looks at it, whatever becomes of this mail.
    """

    kind: Kind
    code: str
    detail: str
    stage: Stage
    enhanced: str = ""
    hard: bool = False
    retry_after: timedelta | None = None
    is_quota: bool = False
    stops: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """One recipient of a message that was refused while others may have been accepted."""

    address: str
    why: Rejected


class Accepted(NamedTuple):
    """The server took responsibility for every recipient that is not in `refused`."""

    code: str
    reply: str
    enhanced: str = ""
    provider_message_id: str | None = None
    refused: tuple[Refused, ...] = ()


class AllRefused(NamedTuple):
    """Every recipient of a message with several was refused, each for its own reason."""

    refused: tuple[Refused, ...]


Verdict = Accepted | Rejected | AllRefused
