"""What HTTP answers mean where a provider says nothing else, and how long to wait. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from mailqueue.adapters.http.model import HttpResponse
from mailqueue.core.limits import bounded, limit_in, named_wait, says_closed
from mailqueue.core.verdict import (
    Accepted,
    AllRefused,
    Kind,
    Refused,
    Rejected,
    Stage,
    Verdict,
)
from mailqueue.ports.transport import SendAttempt

DETAIL_CHARACTERS = 500
PLAIN_CHARS = 2000
"""Length of an answer in no known shape whose words are read, in characters."""
_TAG = re.compile("<[^<>]{0,500}>")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


@dataclass(frozen=True, slots=True)
class Meaning:
    """Whom a refusal concerns. `stops` suspends the account; `is_quota` is as in `Rejected`."""

    kind: Kind
    stops: bool = False
    hard: bool = False
    is_quota: bool = False


TRANSIENT = Meaning(Kind.TRANSIENT)
RATE_LIMITED = Meaning(Kind.RATE_LIMITED)
RESTS = Meaning(Kind.RATE_LIMITED, is_quota=True)  # a quota, or what may be mended meanwhile
AMBIGUOUS = Meaning(Kind.AMBIGUOUS)
MESSAGE = Meaning(Kind.PERMANENT_MESSAGE)
RECIPIENT = Meaning(Kind.PERMANENT_RECIPIENT)
GONE = Meaning(Kind.PERMANENT_RECIPIENT, hard=True)
SENDER = Meaning(Kind.ACCOUNT)  # this From, not every mail
ACCOUNT = Meaning(Kind.ACCOUNT, stops=True)
UNRECOGNIZED = Meaning(Kind.UNRECOGNIZED)

# What is not here depends on the words, and is unrecognized where nobody knows them.
MEANING_BY_STATUS: Mapping[int, Meaning] = {
    401: ACCOUNT,
    402: RESTS,
    408: TRANSIENT,
    409: TRANSIENT,
    413: MESSAGE,
    420: RATE_LIMITED,
    425: TRANSIENT,
    429: RATE_LIMITED,
    503: TRANSIENT,  # RFC 9110 15.6.4: not handled
}
_NO_LIMITS = frozenset({408, 409, 413, 425})
"""Statuses that say what they mean, whatever the words."""


def meaning_of(status: int, words: str) -> Meaning:
    """Return what a refusal means by its status and words, where its provider has no name for it.

    Words that name a limit come first: providers use nearly every status of class 4 for it.
    """
    known = MEANING_BY_STATUS.get(status)
    if 400 <= status < 500 and status not in _NO_LIMITS:
        limit = limit_in(words)
        if limit is not None:
            return RESTS if limit.is_quota else RATE_LIMITED
        if known is None and says_closed(words):
            return ACCOUNT
    if known is not None:
        return known
    return AMBIGUOUS if status >= 500 else UNRECOGNIZED  # redirects are not followed


def refused(
    answer: HttpResponse, meaning: Meaning, detail: str, *, retry_after: timedelta | None = None
) -> Rejected:
    """Return that the provider refused: its status, its words, and when it wants to be asked again.

    The time stands in a header, or in the words of a limit.
    """
    comes_back = meaning.kind in (Kind.RATE_LIMITED, Kind.TRANSIENT)
    wait = retry_after or (retry_after_of(answer) if comes_back else None)
    if wait is None and meaning.kind is Kind.RATE_LIMITED:
        wait = named_wait(detail, now=clock_of(answer))
    return Rejected(
        meaning.kind,
        str(answer.status),
        cleaned(detail) or f"HTTP {answer.status}",
        Stage.CONNECT if meaning.stops else Stage.DOT,
        hard=meaning.hard,
        retry_after=wait,
        is_quota=meaning.is_quota,
    )


def not_understood(answer: HttpResponse) -> Rejected:
    """Return what an answer in none of the provider's own shapes means.

    A success of another shape is no refusal: the provider may have taken the mail, and nobody knows
    what it does with the next one.
    """
    if answer.is_success:
        why = f"HTTP {answer.status} with a body that is not understood: it may have been accepted"
        return replace(refused(answer, AMBIGUOUS, why), stops=True)
    if 300 <= answer.status < 400:
        why = f"redirected with HTTP {answer.status}, not followed"
        return refused(answer, UNRECOGNIZED, why)
    words = plain(answer)
    return refused(answer, meaning_of(answer.status, words), words)


def plain(answer: HttpResponse) -> str:
    """Return the words of a body in no known shape, without its tags."""
    return cleaned(_TAG.sub(" ", answer.body[:PLAIN_CHARS].decode("utf-8", "replace")))


def about_recipient(
    mail: SendAttempt,
    answer: HttpResponse,
    detail: str,
    *,
    address: str | None = None,
    hard: bool = False,
) -> Verdict:
    """Return the refusal of a call because of one address; the others may be sent without it.

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


def nobody_takes(mail: SendAttempt, why: Rejected) -> Verdict:
    """Return a refusal of every recipient for the same reason."""
    if len(mail.envelope.recipients) == 1:
        return why
    return AllRefused(tuple(Refused(one, why) for one in mail.envelope.recipients))


def of_copies(mail: SendAttempt, verdicts: Sequence[Verdict]) -> Verdict:
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


def retry_after_of(answer: HttpResponse, *, now: datetime | None = None) -> timedelta | None:
    """Return the wait of Retry-After, seconds or a date (RFC 9110 10.2.3); None where none is said.

    A date counts from the server's own clock, if it says what that shows.
    """
    text = answer.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return bounded(timedelta(seconds=int(text)))
    at = _date(text)
    return None if at is None else bounded(at - (now or clock_of(answer) or datetime.now(UTC)))


def clock_of(answer: HttpResponse) -> datetime | None:
    """Return what the server's clock shows, by its Date header."""
    return _date(answer.headers.get("date", ""))


def _date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def cleaned(text: str) -> str:
    """Return foreign words on one line, in bounds."""
    return _CONTROL.sub(" ", text).strip()[:DETAIL_CHARACTERS]
