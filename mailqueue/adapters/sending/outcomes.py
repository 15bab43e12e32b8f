"""What HTTP answers mean where a provider says nothing else, and how long to wait. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from mailqueue.adapters.http.model import Answer
from mailqueue.core.verdict import (
    Accepted,
    AllRefused,
    Kind,
    Refused,
    Rejected,
    Stage,
    Verdict,
)
from mailqueue.ports.transport import Outgoing

DETAIL_CHARACTERS = 500
SHORTEST_WAIT = timedelta(seconds=1)
LONGEST_WAIT = timedelta(hours=24)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


@dataclass(frozen=True, slots=True)
class Meaning:
    """Whom a refusal concerns. `stops` says that the account is refused, with all its mail."""

    kind: Kind
    stops: bool = False
    hard: bool = False
    wait: timedelta | None = None


TRANSIENT = Meaning(Kind.TRANSIENT)
RATE_LIMITED = Meaning(Kind.RATE_LIMITED)
AMBIGUOUS = Meaning(Kind.AMBIGUOUS)
MESSAGE = Meaning(Kind.PERMANENT_MESSAGE)
RECIPIENT = Meaning(Kind.PERMANENT_RECIPIENT)
GONE = Meaning(Kind.PERMANENT_RECIPIENT, hard=True)
SENDER = Meaning(Kind.ACCOUNT)  # this From, not every mail
ACCOUNT = Meaning(Kind.ACCOUNT, stops=True)

MEANING_BY_STATUS: Mapping[int, Meaning] = {
    400: MESSAGE,
    401: ACCOUNT,
    402: ACCOUNT,
    403: ACCOUNT,
    404: ACCOUNT,
    405: ACCOUNT,
    406: ACCOUNT,
    408: TRANSIENT,
    409: TRANSIENT,
    413: MESSAGE,
    415: MESSAGE,
    422: MESSAGE,
    425: TRANSIENT,
    429: RATE_LIMITED,
    451: ACCOUNT,
    503: TRANSIENT,  # RFC 9110 15.6.4: not handled
}


def meaning_of(status: int) -> Meaning:
    """Say what a status means by itself."""
    if status in MEANING_BY_STATUS:
        return MEANING_BY_STATUS[status]
    if status >= 500:
        return AMBIGUOUS
    # Redirects are not followed with credentials; a success of another shape is somebody else's.
    return MESSAGE if status >= 400 else ACCOUNT


def refused(
    answer: Answer, meaning: Meaning, detail: str, *, retry_after: timedelta | None = None
) -> Rejected:
    """Say that the provider refused: its status, its words, and when it wants to be asked again."""
    comes_back = meaning.kind in (Kind.RATE_LIMITED, Kind.TRANSIENT)
    return Rejected(
        meaning.kind,
        str(answer.status),
        cleaned(detail) or f"HTTP {answer.status}",
        Stage.CONNECT if meaning.stops else Stage.DOT,
        hard=meaning.hard,
        retry_after=retry_after or meaning.wait or (retry_after_of(answer) if comes_back else None),
    )


def not_understood(answer: Answer) -> Rejected:
    """Say that an answer is none that the provider gives: a proxy's page, or another server's."""
    if answer.is_success:
        return refused(answer, ACCOUNT, "the answer is not one of this provider: wrong address?")
    if 300 <= answer.status < 400:
        return refused(answer, ACCOUNT, f"redirected with HTTP {answer.status}, not followed")
    return refused(answer, meaning_of(answer.status), "")


def about_recipient(
    mail: Outgoing, answer: Answer, detail: str, *, address: str | None = None, hard: bool = False
) -> Verdict:
    """Say that one address made the provider refuse the whole call; the others may go without it.

    Which one it was is looked for in the words where it is not known. Where nobody knows, and there
    are several, it is the message that cannot be sent.
    """
    everyone = mail.envelope.recipients
    words = detail.lower()
    named = [one for one in everyone if one.lower() == (address or "").lower()] or [
        one for one in everyone if one.lower() in words
    ]
    why = refused(answer, GONE if hard else RECIPIENT, detail)
    if len(everyone) == 1:
        return why
    if not named:
        return refused(answer, MESSAGE, detail)
    others = refused(answer, TRANSIENT, f"another recipient was refused: {named[0]}")
    return AllRefused(tuple(Refused(one, why if one in named else others) for one in everyone))


def nobody_takes(mail: Outgoing, why: Rejected) -> Verdict:
    """Say that every recipient is refused for the same reason."""
    if len(mail.envelope.recipients) == 1:
        return why
    return AllRefused(tuple(Refused(one, why) for one in mail.envelope.recipients))


def of_copies(mail: Outgoing, verdicts: Sequence[Verdict]) -> Verdict:
    """Return what became of a mail that was sent to each of its recipients by itself.

    Where some took it, a copy of unknown fate is not sent again: the mail's own policy is for
    mail that is in doubt as a whole.
    """
    accepted = [one for one in verdicts if isinstance(one, Accepted)]
    refused = [
        Refused(address, one)
        for address, one in zip(mail.envelope.recipients, verdicts, strict=True)
        if isinstance(one, Rejected)
    ]
    if accepted:
        known = tuple(replace(one, why=_in_doubt(one.why)) for one in refused)
        return accepted[0]._replace(refused=known)
    doubt = next((one.why for one in refused if one.why.kind is Kind.AMBIGUOUS), None)
    if doubt is not None or len({(one.why.kind, one.why.detail) for one in refused}) == 1:
        why = doubt or refused[0].why
        return nobody_takes(mail, why) if why.kind is Kind.PERMANENT_RECIPIENT else why
    return AllRefused(tuple(refused))


def _in_doubt(why: Rejected) -> Rejected:
    if why.kind is not Kind.AMBIGUOUS:
        return why
    detail = cleaned(f"nobody knows whether it was taken: {why.detail}")
    return replace(why, kind=Kind.PERMANENT_MESSAGE, detail=detail)


def cannot_carry(why: str) -> Rejected:
    """Refuse a mail before anything is sent."""
    return Rejected(Kind.PERMANENT_MESSAGE, "", why, Stage.CONNECT)


def retry_after_of(answer: Answer, *, now: datetime | None = None) -> timedelta | None:
    """Read Retry-After, seconds or a date (RFC 9110 10.2.3); None where it is absent or no time."""
    text = answer.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return bounded(timedelta(seconds=int(text)))
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return bounded(at - (now or datetime.now(UTC)))


def bounded(wait: timedelta) -> timedelta:
    """Keep a wait that somebody else chose within reason."""
    return max(SHORTEST_WAIT, min(LONGEST_WAIT, wait))


def cleaned(text: str) -> str:
    """Give foreign words on one line, in bounds."""
    return _CONTROL.sub(" ", text).strip()[:DETAIL_CHARACTERS]
