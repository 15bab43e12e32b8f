"""What HTTP responses mean by default, and how long to wait after them. Pure."""

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
    Fault,
    Refused,
    Rejected,
    Stage,
    Verdict,
)
from mailqueue.ports.transport import SendAttempt

DETAIL_CHARACTERS = 500
PLAIN_CHARS = 2000
"""Characters of a body of unknown format that are read."""
_TAG = re.compile("<[^<>]{0,500}>")
_IN_LOCAL_PARTS = frozenset(".+-_%=")
"""Characters before an address by which it is the end of a longer one."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


@dataclass(frozen=True, slots=True)
class Meaning:
    """The kind of a refusal. `stops` suspends the account; `is_quota` is as in `Rejected`."""

    kind: Fault
    stops: bool = False
    hard: bool = False
    is_quota: bool = False


TRANSIENT = Meaning(Fault.TRANSIENT)
RATE_LIMITED = Meaning(Fault.RATE_LIMITED)
# A quota, or a state of the account that may be corrected.
PAUSED = Meaning(Fault.RATE_LIMITED, is_quota=True)
AMBIGUOUS = Meaning(Fault.AMBIGUOUS)
MESSAGE = Meaning(Fault.PERMANENT_MESSAGE)
RECIPIENT = Meaning(Fault.PERMANENT_RECIPIENT)
GONE = Meaning(Fault.PERMANENT_RECIPIENT, hard=True)
SENDER = Meaning(Fault.ACCOUNT)  # this From address, not every email
ACCOUNT = Meaning(Fault.ACCOUNT, stops=True)
UNRECOGNIZED = Meaning(Fault.UNRECOGNIZED)

# Other statuses are judged by their text, and are unrecognized if the text is unknown.
MEANING_BY_STATUS: Mapping[int, Meaning] = {
    401: ACCOUNT,
    402: PAUSED,
    408: TRANSIENT,
    409: TRANSIENT,
    413: MESSAGE,
    420: RATE_LIMITED,
    425: TRANSIENT,
    429: RATE_LIMITED,
    503: TRANSIENT,  # RFC 9110 15.6.4: not handled
}
_NO_LIMITS = frozenset({408, 409, 413, 425})
"""Statuses with one meaning, whatever the text."""


def meaning_of(status: int, words: str) -> Meaning:
    """Return what a refusal means by its status and text, if the provider has no error code for it.

    Texts that name a limit come first: providers use nearly every 4xx status for limits.
    """
    known = MEANING_BY_STATUS.get(status)
    if 400 <= status < 500 and status not in _NO_LIMITS:
        limit = limit_in(words)
        if limit is not None:
            return PAUSED if limit.is_quota else RATE_LIMITED
        if known is None and says_closed(words):
            return ACCOUNT
    if known is not None:
        return known
    return AMBIGUOUS if status >= 500 else UNRECOGNIZED  # redirects are not followed


def refused(
    answer: HttpResponse, meaning: Meaning, detail: str, *, retry_after: timedelta | None = None
) -> Rejected:
    """Return a Rejected with the response's status, text and wait.

    The wait is taken from `retry_after`, from a header, or from the text of a limit.
    """
    comes_back = meaning.kind in (Fault.RATE_LIMITED, Fault.TRANSIENT)
    wait = retry_after or (retry_after_of(answer) if comes_back else None)
    if wait is None and meaning.kind is Fault.RATE_LIMITED:
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
    """Return what a response in none of the provider's formats means.

    A 2xx status in an unknown format is not a refusal: the provider may have accepted the email.
    """
    if answer.is_success:
        why = f"HTTP {answer.status} with an unknown body: the email may have been accepted"
        return replace(refused(answer, AMBIGUOUS, why), stops=True)
    if 300 <= answer.status < 400:
        why = f"redirected with HTTP {answer.status}, not followed"
        return refused(answer, UNRECOGNIZED, why)
    words = plain(answer)
    return refused(answer, meaning_of(answer.status, words), words)


def plain(answer: HttpResponse) -> str:
    """Return the text of a body of unknown format, without HTML tags."""
    return cleaned(_TAG.sub(" ", answer.body[:PLAIN_CHARS].decode("utf-8", "replace")))


def about_recipient(
    mail: SendAttempt,
    answer: HttpResponse,
    detail: str,
    *,
    address: str | None = None,
    hard: bool = False,
) -> Verdict:
    """Return the refusal of a request because of one address; the others can be sent without it.

    If `address` is None, the address is looked for in the text. If the text names none of several
    recipients, the message is refused.
    """
    everyone = mail.envelope.recipients
    named = [one for one in everyone if one.lower() == (address or "").lower()]
    named = named or named_in(detail, everyone)
    why = refused(answer, GONE if hard else RECIPIENT, detail)
    if len(everyone) == 1:
        return why
    if not named:
        return refused(answer, MESSAGE, detail)
    others = refused(answer, TRANSIENT, f"another recipient was refused: {named[0]}")
    return AllRefused(tuple(Refused(one, why if one in named else others) for one in everyone))


def named_in(text: str, recipients: Sequence[str]) -> list[str]:
    """Return the recipients that a text names, in any case and not as a part of longer ones."""
    words = text.lower()
    return [one for one in recipients if _is_named(one.lower(), words)]


def _is_named(address: str, words: str) -> bool:
    start = words.find(address)
    while start >= 0:
        end = start + len(address)
        before, after = words[start - 1 : start], words[end : end + 2]
        is_longer = (
            before.isalnum()
            or before in _IN_LOCAL_PARTS
            or after[:1].isalnum()
            or after[:1] == "-"
            or (after[:1] == "." and after[1:].isalnum())
        )
        if not is_longer:
            return True
        start = words.find(address, end)
    return False


def nobody_takes(mail: SendAttempt, why: Rejected) -> Verdict:
    """Return a refusal of every recipient for the same reason."""
    if len(mail.envelope.recipients) == 1:
        return why
    return AllRefused(tuple(Refused(one, why) for one in mail.envelope.recipients))


def of_copies(mail: SendAttempt, verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of an email that was sent to each of its recipients separately.

    If some recipients were accepted, a copy with an unknown outcome is not sent again: the email's
    own policy applies only if the whole email is in doubt.
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
    doubt = next((one.why for one in refused if one.why.kind is Fault.AMBIGUOUS), None)
    if doubt is not None or len({(one.why.kind, one.why.detail) for one in refused}) == 1:
        why = doubt or refused[0].why
        return nobody_takes(mail, why) if why.kind is Fault.PERMANENT_RECIPIENT else why
    return AllRefused(tuple(refused))


def _in_doubt(why: Rejected) -> Rejected:
    if why.kind is not Fault.AMBIGUOUS:
        return why
    detail = cleaned(f"it is unknown whether it was accepted: {why.detail}")
    return replace(why, kind=Fault.PERMANENT_MESSAGE, detail=detail)


def cannot_carry(why: str) -> Rejected:
    """Return the refusal of an email that cannot be sent in the provider's format."""
    return Rejected(Fault.PERMANENT_MESSAGE, "", why, Stage.CONNECT)


def retry_after_of(answer: HttpResponse, *, now: datetime | None = None) -> timedelta | None:
    """Return the wait of Retry-After, in seconds or a date (RFC 9110 10.2.3); None if it has none.

    A date is compared with the response's Date header if there is one.
    """
    text = answer.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return bounded(timedelta(seconds=int(text)))
    at = _date(text)
    return None if at is None else bounded(at - (now or clock_of(answer) or datetime.now(UTC)))


def clock_of(answer: HttpResponse) -> datetime | None:
    """Return the time of the response's Date header."""
    return _date(answer.headers.get("date", ""))


def _date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def cleaned(text: str) -> str:
    """Return a text of the provider on one line, cut to a bounded length."""
    return _CONTROL.sub(" ", text).strip()[:DETAIL_CHARACTERS]
