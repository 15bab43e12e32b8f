"""The verdict of a transport about one email. Values only."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from mailqueue.core.conversation import ConversationRecord


class Fault(StrEnum):
    """What a refusal concerns; the queue decides by it what to do next."""

    TRANSIENT = "transient"  # not accepted, a temporary fault
    RATE_LIMITED = "rate_limited"  # not accepted: a rate or quota of the account is reached
    AMBIGUOUS = "ambiguous"  # everything was sent, but no reply was read
    PERMANENT_RECIPIENT = "permanent_recipient"  # this address cannot receive the email
    PERMANENT_MESSAGE = "permanent_message"  # the message is refused
    ACCOUNT = "account"  # the account at this server: credentials, quota, sender not allowed
    # About the sending side (blocklist, policy), not the recipient.
    INFRASTRUCTURE = "infrastructure"
    UNRECOGNIZED = "unrecognized"  # a refusal that is in no table, so what it concerns is unknown


class Stage(StrEnum):
    """The stage of the transaction at which the verdict was reached."""

    CONNECT = "connect"  # before MAIL FROM: connect, greeting, TLS, EHLO, AUTH
    MAIL = "mail"
    RCPT = "rcpt"
    DATA = "data"
    DOT = "dot"  # all bytes sent


@dataclass(frozen=True, slots=True)
class Rejected:
    """The email, or one of its recipients, was not accepted.

    `code` is the SMTP or HTTP code as text, "" if none was read. `enhanced` is the RFC 3463 code or
    "". `hard` is evidence that the address does not exist: only then is it suppressed.
    `retry_after` is the wait that the server asked for. `is_quota` is true if a quota of hours or
    days is reached: if the server names no time, the first pause is longer. `stops` is true if the
    account must not send until a person has checked it, whatever the outcome of this email.
    `conversation` is the record of the attempt, for a person to read; it is about one email only.
    """

    kind: Fault
    code: str
    detail: str
    stage: Stage
    enhanced: str = ""
    hard: bool = False
    retry_after: timedelta | None = None
    is_quota: bool = False
    stops: bool = False
    conversation: ConversationRecord | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused recipient of a message that may have been accepted for others."""

    address: str
    why: Rejected


class Accepted(NamedTuple):
    """The server accepted responsibility for every recipient that is not in `refused`."""

    code: str
    reply: str
    enhanced: str = ""
    provider_message_id: str | None = None
    refused: tuple[Refused, ...] = ()


class AllRefused(NamedTuple):
    """All of several recipients were refused, each with its own reason."""

    refused: tuple[Refused, ...]


Verdict = Accepted | Rejected | AllRefused


def with_conversation(verdict: Verdict, record: ConversationRecord) -> Verdict:
    """Return the verdict with the record of its attempt; an email without a refusal has none."""
    if isinstance(verdict, Rejected):
        return replace(verdict, conversation=record)
    if not verdict.refused:
        return verdict
    first, *others = verdict.refused
    first = replace(first, why=replace(first.why, conversation=record))
    return verdict._replace(refused=(first, *others))


def conversation_of(verdict: Verdict) -> ConversationRecord | None:
    """Return the record of the attempt; None if there is none."""
    if isinstance(verdict, Rejected):
        return verdict.conversation
    found = (one.why.conversation for one in verdict.refused)
    return next((record for record in found if record is not None), None)
