"""Finds in a refusal's text whether a limit of the account is reached or the account is closed.

Pure.

Used for SMTP replies and HTTP responses. Texts in no table are unrecognized: they fail no email and
suspend no account by themselves.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

MAX_CHARS = 2000
"""Characters of a refusal's text that are examined."""
MIN_WAIT = timedelta(seconds=1)
MAX_WAIT = timedelta(hours=24)
"""Bounds of a wait that a provider names."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of the account at its provider.

    `is_quota` is true for a quota of hours or days, false for a rate. `wait` is None if the
    provider names no time.
    """

    is_quota: bool
    wait: timedelta | None = None


# Texts are in lower case. Every repetition is bounded, so that a search takes linear time.
_FEW = r"(?: [\w'-]{1,30}){0,4}"  # up to four words
_PERIOD = r"(?:minute|hour|day|month|24[ -]?hours?)"
_SENT = r"(?:messages?|e?mails?|sends|sending|submissions?|outbound)"
_SPENT = r"(?:exceeded|exceeds|reached|hit|exhausted|used up|depleted)"
# Limits of the account, whatever else the text says.
_SURE_QUOTA_WORDS = (
    r"submission ?quota ?exceeded",
    rf"\b(?:daily|hourly|monthly|24[ -]?hour){_FEW} (?:quotas?|limits?|allowance)\b",
    r"\b(?:daily|hourly|monthly)[ _-]?(?:quota|limit)[ _-]?exceeded",
    rf"\b(?:quota|limit|maximum) of \d{{1,9}}{_FEW} (?:per|an?|each|every|in) {_PERIOD}",
    rf"\b{_SENT} (?:per|each) {_PERIOD}\b",
    rf"\b{_SENT} (?:quotas?|limits?){_FEW} {_SPENT}",
    rf"\b{_SPENT}{_FEW} {_SENT} (?:quota|limit)s?\b",
    rf"\bcredits?{_FEW} {_SPENT}",
    r"\b(?:out of|not enough|insufficient|no|no more|no remaining) credits?\b",
)
_SURE_QUOTA = re.compile("|".join(_SURE_QUOTA_WORDS))
_SURE_RATE_WORDS = (
    r"\bmaximum sending rate\b",
    r"\bsending rate (?:limit )?exceeded",
    r"\btoo many bad requests\b",
    r"\btemporar(?:y|ily) (?:block|ban|suspen|restrict|lock)",
)
_SURE_RATE = re.compile("|".join(_SURE_RATE_WORDS))
# Limits of the account unless the text is about something else, see _OTHER.
_LIKELY_QUOTA_WORDS = (
    r"quota[ _-]?exceeded",
    r"limit[ _-]?exceeded",
    r"\blimit (?:has been |was |is )?(?:reached|hit)\b",
    rf"\b{_SPENT}{_FEW} (?:quota|limits?|allowance|cap)\b",
    r"\busage limit\b",
)
_LIKELY_QUOTA = re.compile("|".join(_LIKELY_QUOTA_WORDS))
_LIKELY_RATE_WORDS = (
    r"rate[ _-]?limit",
    r"rate (?:was |is )?exceeded",
    rf"\bexceeded{_FEW} rate\b",
    r"\bunusual rate\b",
    r"\bthrottl",
    r"\bslow(?:ing)? down\b",
    r"\btoo (?:fast|quickly|frequently)\b",
    r"\btoo[ _]?many[ _]?requests",
    r"\btoo many (?:[\w-]{1,20} ){0,2}(?:messages|mails|emails|connections"
    r"|sessions|logins|sends|commands|auth)",
    r"\btoo many (?:failed |bad |invalid )?(?:login|auth)",
    r"\btoo many recipients from\b",
    r"\btoo much mail\b",
)
_LIKELY_RATE = re.compile("|".join(_LIKELY_RATE_WORDS))
# Limits of one mailbox, message or connection.
_OTHER_WORDS = (
    r"mailbox",
    r"mail box",
    r"\binbox\b",
    r"\bstorage\b",
    r"\bdisk\b",
    r"\bsizes?\b",
    r"\btoo (?:large|big|long)\b",
    r"\bover ?quota\b",
    r"\brecipient's\b",
    r"\btoo many (?:recipients(?! from)|rcpt|hops|received)",
    r"\b(?:per|this|each|one|a single) (?:message|mail|email|transaction|connection|session"
    r"|request)",
    r"\bhop (?:count|limit)",
    r"\bline length",
    r"gr[ae]y-?list",
)
_OTHER = re.compile("|".join(_OTHER_WORDS))
# Texts of another server, or about one of its users.
_REMOTE_WORDS = (r"\bsaid: ", r"\btrying to (?:contact|reach)\b", r"\bthat you tried to\b")
_REMOTE = re.compile("|".join(_REMOTE_WORDS))

_QUOTA_CODES = frozenset({"1.90"})  # X.1.90 of Microsoft 365: recipients per day
_RATE_CODES = frozenset({"7.28", "7.38"})
# Mailbox full, message too large, too many recipients.
_OTHER_CODES = frozenset({"2.1", "2.2", "2.3", "2.4", "3.1", "3.4", "5.3"})

_IS = r"(?:is |was |has been |have been |are )?(?:currently |permanently )?"
_NO = r"(?:suspended|disabled|closed|terminated|deactivated|blocked|banned|deleted|inactive|locked)"
_KEY = (
    r"(?:(?:api|access|account|authorization|secret)[ _-]?(?:key|token)|server token|credentials?"
    r"|password|login|user ?name)"
)
_CLOSED_WORDS = (
    rf"\b(?:account|subaccount|subscription) (?:[\w.@'-]{{1,80}} )?{_IS}"
    rf"(?:{_NO}|cancell?ed|expired)",
    rf"(?:^|\byour |\bsending |\bthis )domain (?:[\w.@'-]{{1,80}} )?{_IS}{_NO}",
    rf"\b{_NO} (?:account|subaccount|subscription)\b",
    rf"\bsending {_IS}(?:{_NO}|shut ?down) for (?:this|your) account",
    r"\b(?:invalid|bad|wrong|unknown|incorrect|missing|revoked|expired|disabled) (?:\w{1,30} )?"
    rf"{_KEY}\b",
    rf"\b{_KEY} {_IS}(?:invalid|not valid|no longer valid|not found|unknown|expired|revoked|missing"
    r"|disabled|incorrect|wrong|not accepted|not recognized)",
    r"\bauthentication (?:failed|failure|unsuccessful|credentials invalid|required|rejected)",
    r"\bunauthori[sz]ed\b",
    r"\bmissing (?:required )?(?:permission|scope)s?\b",
)
_CLOSED = re.compile("|".join(_CLOSED_WORDS))

_AFTER = re.compile(
    r"\b(?:after|until|till|before|again (?:at|in)|retry (?:at|in)|wait|in)\b[ :]{0,3}"
    r"(?:(?P<count>\d{1,7}) ?(?P<unit>seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?)\b"
    r"|(?P<iso>\d{4}-\d\d-\d\d[ Tt]\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})?"
    r" ?(?P<zone>[Zz]|utc|UTC|gmt|GMT|[+-]\d\d:?\d\d)?"
    r"|(?P<mail>(?:[A-Za-z]{3}, )?\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d(?::\d\d)?"
    r"(?: (?:[A-Za-z]{3}|[+-]\d{4}))?))",
    re.IGNORECASE,
)
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def limit_in(words: str, *, now: datetime | None = None) -> Limit | None:
    """Return the limit that a text names, or None."""
    lowered = words[:MAX_CHARS].lower()
    if _REMOTE.search(lowered):
        return None
    if _SURE_QUOTA.search(lowered):
        return Limit(is_quota=True, wait=named_wait(words, now=now))
    is_likely = _OTHER.search(lowered) is None
    if _SURE_RATE.search(lowered) or (is_likely and _LIKELY_RATE.search(lowered)):
        return Limit(is_quota=False, wait=named_wait(words, now=now))
    if is_likely and _LIKELY_QUOTA.search(lowered):
        return Limit(is_quota=True, wait=named_wait(words, now=now))
    return None


def limit_in_reply(enhanced: str, words: str, *, now: datetime | None = None) -> Limit | None:
    """Return the limit that an SMTP reply names, or None.

    `enhanced` is "" if it has no such code.
    """
    key = enhanced.partition(".")[2]
    if key in _QUOTA_CODES or key in _RATE_CODES:
        return Limit(key in _QUOTA_CODES, named_wait(words, now=now))
    return None if key in _OTHER_CODES else limit_in(words, now=now)


def says_closed(words: str) -> bool:
    """Return whether a text says that the account is closed or its key is not valid."""
    lowered = words[:MAX_CHARS].lower()
    if "recipient" in lowered or _REMOTE.search(lowered):
        return False
    return _CLOSED.search(lowered) is not None


def named_wait(words: str, *, now: datetime | None = None) -> timedelta | None:
    """Return the wait until the time that a text names, bounded; None if it names none.

    `now` is the provider's clock, if known.
    """
    found = _AFTER.search(words[:MAX_CHARS])
    if found is None:
        return None
    if found["count"]:
        seconds = int(found["count"]) * _UNIT_SECONDS[found["unit"][0].lower()]
        return bounded(timedelta(seconds=seconds))
    try:
        if found["iso"]:
            zone = found["zone"] or ""
            text = found["iso"] + (zone if zone.startswith(("+", "-")) else "")
            at = datetime.fromisoformat(text)
        else:
            at = parsedate_to_datetime(found["mail"])
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - (now or datetime.now(UTC))
    except (ValueError, OverflowError):
        return None
    return bounded(wait) if wait > timedelta(0) else None


def bounded(wait: timedelta) -> timedelta:
    """Return a wait between MIN_WAIT and MAX_WAIT."""
    return max(MIN_WAIT, min(MAX_WAIT, wait))


_CHANGING = (
    (re.compile(r"[^\s<>\"',;()]{1,300}@[^\s<>\"',;()]{1,300}"), "@"),
    (re.compile(r"[\w-]{0,100}\d[\w:.-]{0,100}"), "#"),  # numbers, dates, ids
    (re.compile(r"\s+"), " "),
)
REFUSAL_CHARS = 200
_SPOKEN_STATUSES = frozenset({"400", "401", "402", "403", "409", "422", "429"})


def refusal_of(code: str, enhanced: str, words: str) -> str:
    """Return a text that groups similar refusals: the code, and the words without numbers and ids.

    For an HTTP status that providers do not use for their own errors, it is the status only.
    """
    if code[:1] in "34" and code not in _SPOKEN_STATUSES:
        return code
    text = words[:MAX_CHARS].lower()
    for pattern, mark in _CHANGING:
        text = pattern.sub(mark, text)
    return " ".join(one for one in (code, enhanced, text.strip()[:REFUSAL_CHARS]) if one)
