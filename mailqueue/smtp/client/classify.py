"""Classifies refusals: by recipient, message, account or infrastructure. Pure.

The tables map codes to kinds; `classify` picks the table for the stage. Texts that name a limit of
the account are looked at first, see `core.limits`. A code in no table is unrecognized, which alone
does not fail the mail. Sources: RFC 5321 section 4.2, RFC 3463 and its registry
https://www.iana.org/assignments/smtp-enhanced-status-codes
"""

import re
from datetime import timedelta
from enum import StrEnum

from mailqueue.core.limits import Limit, limit_in_reply, says_closed
from mailqueue.core.verdict import Fault, Rejected, Stage

GREYLISTED = timedelta(minutes=5)
HARD = "hard"  # the address does not exist: PERMANENT_RECIPIENT, and evidence for a suppression

# By subject and detail of the enhanced code, for replies of class 5.
# Address status at RCPT, and at the final dot when there was one recipient.
RECIPIENT: dict[str, Fault | str] = {
    "1.0": Fault.PERMANENT_RECIPIENT,
    "1.1": HARD,
    "1.2": HARD,
    "1.3": HARD,
    "1.4": HARD,
    "1.5": Fault.PERMANENT_RECIPIENT,
    "1.6": Fault.PERMANENT_RECIPIENT,  # moved: a hard bounce only if it happens again
    "1.9": Fault.PERMANENT_RECIPIENT,
    "1.10": HARD,
    "2.0": Fault.PERMANENT_RECIPIENT,
    "2.1": Fault.PERMANENT_RECIPIENT,  # disabled, or "not now" at some hosts
    "2.2": Fault.PERMANENT_RECIPIENT,  # mailbox full is soft, even as 5.2.2
    "2.4": Fault.PERMANENT_RECIPIENT,
}
# Refusals of a recipient by policy: after the body was read they do not concern a recipient.
RECIPIENT_AT_RCPT: dict[str, Fault | str] = {
    "7.13": Fault.PERMANENT_RECIPIENT,
    "7.17": HARD,
    "7.18": HARD,
}
# At every stage.
ANYWHERE: dict[str, Fault] = {
    "1.7": Fault.PERMANENT_MESSAGE,
    "1.8": Fault.ACCOUNT,
    "2.3": Fault.PERMANENT_MESSAGE,
    "3.0": Fault.TRANSIENT,
    "3.1": Fault.TRANSIENT,
    "3.2": Fault.TRANSIENT,
    "3.4": Fault.PERMANENT_MESSAGE,
    "3.5": Fault.TRANSIENT,
    "4.1": Fault.TRANSIENT,
    "4.2": Fault.TRANSIENT,
    "4.3": Fault.TRANSIENT,
    "4.4": Fault.TRANSIENT,
    "4.5": Fault.TRANSIENT,
    "4.6": Fault.TRANSIENT,
    "4.7": Fault.PERMANENT_RECIPIENT,  # the next server gave up: soft and final
    "5.3": Fault.TRANSIENT,  # too many recipients: split and retry
    "7.8": Fault.ACCOUNT,
    "7.9": Fault.ACCOUNT,
    "7.14": Fault.ACCOUNT,
    "7.27": Fault.ACCOUNT,
    "7.30": Fault.PERMANENT_MESSAGE,
}
# Sender reputation, in either class: DKIM, SPF, reverse DNS, ARC; and sending too fast.
REPUTATION: dict[str, Fault] = {
    **{f"7.{detail}": Fault.INFRASTRUCTURE for detail in (20, 21, 22, 23, 24, 25, 26, 29)},
    "7.28": Fault.RATE_LIMITED,
    "7.38": Fault.RATE_LIMITED,
}
BY_SUBJECT: dict[str, Fault] = {
    "5": Fault.PERMANENT_MESSAGE,
    "6": Fault.PERMANENT_MESSAGE,
    "7": Fault.INFRASTRUCTURE,
}
# A refused MAIL FROM concerns the account, except with these codes.
AT_MAIL: dict[str, Fault] = {
    "1.7": Fault.PERMANENT_MESSAGE,
    "2.3": Fault.PERMANENT_MESSAGE,
    "3.4": Fault.PERMANENT_MESSAGE,
}

BY_CODE_AT_RCPT: dict[int, Fault] = {
    **dict.fromkeys((500, 501, 502, 503, 504, 555), Fault.PERMANENT_MESSAGE),
    **dict.fromkeys((530, 534, 535, 538), Fault.ACCOUNT),
    **dict.fromkeys((521, 523, 525, 552, 556), Fault.PERMANENT_RECIPIENT),
}
# Without an enhanced code: the sender at MAIL, and what was sent at DATA and the final dot.
BY_CODE_AT_MAIL: dict[int, Fault] = {
    **dict.fromkeys((523, 552), Fault.PERMANENT_MESSAGE),
    **dict.fromkeys((500, 501, 502, 503, 504, 530, 534, 535, 538, 553, 555), Fault.ACCOUNT),
}
BY_CODE_AFTER_RCPT: dict[int, Fault] = dict.fromkeys(
    (500, 501, 502, 503, 504, 523, 552, 555), Fault.PERMANENT_MESSAGE
)
HINT_CODES = frozenset((550, 551, 553, 554))
HARD_HINT = re.compile(r"user unknown|no such user|does not exist|unknown recipient")
WEAK_HARD_HINT = re.compile(r"mailbox unavailable")  # RFC 5321's own words for any 550
POLICY_HINT = re.compile(
    r"spam|blocked|blacklist|blocklist|reputation|policy|\b(?:dmarc|spf|rate|listed)\b"
)
RELAY_HINT = re.compile(
    r"\brelay|access denied|not permitted|not allowed|unauthenticated|authenticat|sender"
)
# A text that mentions the recipient and gives a reason that concerns the recipient.
RECIPIENT_HINT = re.compile(
    r"recipient|mailbox|\buser\b|\baddress|\baccount\b|inbox|\bperson\b|\bdomain\b"
)
REFUSAL_HINT = re.compile(
    r"unknown|invalid|reject|refus|not? (?:found|exist|known|valid|available|accept|here|such)"
    r"|n't (?:exist|have|accept)|disabled|inactive|unavailable|\bfull\b|quota|suspended|no longer"
    r"|no such|deactivated|closed|moved|discontinued|undeliverable"
)
SENDER_HINT = re.compile(
    r"sender|\bfrom\b|relay|authenticat|authori[sz]|permitted|allowed|owned|domain|login|denied"
    r"|user|address|account"
)
MESSAGE_HINT = re.compile(
    r"spam|virus|malware|phish|content|policy|dmarc|dkim|\bspf\b|header|\bmime\b|\bsize\b|too large"
    r"|too big|too long|attachment|blocked|blacklist|blocklist|unsolicited|bulk mail|syntax"
    r"|message (?:was |is |has been )?(?:rejected|refused)|rejected|malformed|invalid|8bit|smtputf8"
)
BLOCKLIST_HINT = re.compile(r"spam|block(?:ed|list)|blacklist|reputation|\blisted\b")
RATE_HINT = re.compile(
    r"\brate\b|too fast|too many (?:messages|mails|connections)|throttl|slow down|limit exceeded"
)
MANY_RECIPIENTS_HINT = re.compile(r"too many (?:recipients|rcpt)")
DNS_HINT = re.compile(r"\bdns\b|temporar|time(?:d )?out|servfail|lookup|try again")
GREYLIST_HINT = re.compile(r"gr[ae]y-?list")


class OpeningStep(StrEnum):
    """The step of opening a session at which the server refused."""

    GREETING = "greeting"
    HELLO = "hello"
    STARTTLS = "starttls"
    AUTH = "auth"


# RFC 4954 and 5321: wrong credentials, an unsuitable mechanism, or an expired password. After any
# other refusal while opening, the account is paused and tried again.
AUTH_REFUSED = frozenset({432, 504, 525, 530, 534, 535, 538})


def classify_opening(step: OpeningStep, code: int, enhanced: str, text: str) -> Rejected:
    """Return what a refusal before MAIL FROM means for the account."""
    limit = limit_in_reply(enhanced, text)
    if limit is not None and (code >= 500 or limit.is_quota or limit.wait is not None):
        # Without a named limit it means too many connections.
        return _limited(limit, Stage.CONNECT, code, enhanced, text)
    is_refused = step is OpeningStep.AUTH and code in AUTH_REFUSED
    is_closed = code >= 500 and step is not OpeningStep.GREETING and says_closed(text)
    kind = Fault.ACCOUNT if is_refused or is_closed else Fault.TRANSIENT
    return Rejected(kind, str(code), text, Stage.CONNECT, enhanced)


def _limited(limit: Limit, stage: Stage, code: int, enhanced: str, text: str) -> Rejected:
    return Rejected(
        Fault.RATE_LIMITED,
        str(code),
        text,
        stage,
        enhanced,
        retry_after=limit.wait,
        is_quota=limit.is_quota,
    )


def classify(stage: Stage, code: int, enhanced: str, text: str, *, recipients: int) -> Rejected:
    """Return the verdict for a refusal at this stage.

    `recipients` is the number of recipients in the transaction: after the body, a refusal of an
    address counts only if there was one. `enhanced` is "" if the reply has no enhanced code.
    """
    if stage is Stage.CONNECT:
        return classify_opening(OpeningStep.GREETING, code, enhanced, text)
    limit = limit_in_reply(enhanced, text)
    if limit is not None:
        return _limited(limit, stage, code, enhanced, text)
    key = enhanced.partition(".")[2]
    lowered = text.lower()
    if code < 500:
        return _temporary(stage, code, enhanced, text)
    kind: Fault | str
    if key in REPUTATION:
        kind = REPUTATION[key]
    elif stage is Stage.MAIL:
        kind = _at_mail(code, key, lowered)
    elif stage is Stage.RCPT:
        kind = _at_rcpt(code, key, lowered)
    else:
        kind = _after_rcpt(code, key, lowered, recipients=recipients)
    if kind == HARD:
        return Rejected(
            Fault.PERMANENT_RECIPIENT, str(code), text, stage, enhanced=enhanced, hard=True
        )
    return Rejected(Fault(kind), str(code), text, stage, enhanced=enhanced)


def _temporary(stage: Stage, code: int, enhanced: str, text: str) -> Rejected:
    key = enhanced.partition(".")[2]
    lowered = text.lower()
    kind = REPUTATION.get(key, Fault.TRANSIENT)
    wait = None
    if key == "7.1" and BLOCKLIST_HINT.search(lowered):
        kind = Fault.INFRASTRUCTURE
    elif kind is Fault.TRANSIENT and stage is Stage.MAIL and RATE_HINT.search(lowered):
        kind = Fault.RATE_LIMITED
    if stage is Stage.RCPT and code in (450, 451):
        greylisted = key in ("7.1", "2.0") or (not key and GREYLIST_HINT.search(lowered))
        wait = GREYLISTED if greylisted else None
    return Rejected(kind, str(code), text, stage, enhanced=enhanced, retry_after=wait)


def _at_mail(code: int, key: str, lowered: str) -> Fault:
    """Return the kind of a refused MAIL FROM; it never concerns the recipient."""
    if key in AT_MAIL:
        return AT_MAIL[key]
    if key.startswith("6."):
        return Fault.PERMANENT_MESSAGE
    if key == "7.1" and BLOCKLIST_HINT.search(lowered):
        return Fault.INFRASTRUCTURE
    if key in RECIPIENT or key in ANYWHERE or key.partition(".")[0] in BY_SUBJECT:
        return Fault.ACCOUNT
    if not key and code in BY_CODE_AT_MAIL:
        return BY_CODE_AT_MAIL[code]
    return Fault.ACCOUNT if SENDER_HINT.search(lowered) else Fault.UNRECOGNIZED


def _at_rcpt(code: int, key: str, lowered: str) -> Fault | str:
    if code == 552 and MANY_RECIPIENTS_HINT.search(lowered):
        return Fault.TRANSIENT  # RFC 5321 section 4.5.3.1.10
    if not key:
        return BY_CODE_AT_RCPT.get(code) or _by_hint(code, lowered)
    if key == "1.2" and DNS_HINT.search(lowered):
        return Fault.PERMANENT_RECIPIENT
    known = RECIPIENT.get(key) or RECIPIENT_AT_RCPT.get(key) or ANYWHERE.get(key)
    return known or BY_SUBJECT.get(key.partition(".")[0]) or _by_hint(code, lowered)


def _by_hint(code: int, lowered: str) -> Fault | str:
    if code not in HINT_CODES:
        return Fault.UNRECOGNIZED
    if POLICY_HINT.search(lowered):  # where both match, the soft kind is chosen
        return Fault.INFRASTRUCTURE
    if HARD_HINT.search(lowered) or (code == 550 and WEAK_HARD_HINT.search(lowered)):
        return HARD
    if RECIPIENT_HINT.search(lowered) and REFUSAL_HINT.search(lowered):
        return Fault.PERMANENT_RECIPIENT
    return Fault.INFRASTRUCTURE if RELAY_HINT.search(lowered) else Fault.UNRECOGNIZED


def _after_rcpt(code: int, key: str, lowered: str, *, recipients: int) -> Fault | str:
    if key in RECIPIENT:
        if recipients != 1:
            return Fault.PERMANENT_MESSAGE
        if key == "1.2" and DNS_HINT.search(lowered):
            return Fault.PERMANENT_RECIPIENT
        return RECIPIENT[key]
    if key in ANYWHERE:
        return ANYWHERE[key]
    if key in RECIPIENT_AT_RCPT:
        return Fault.PERMANENT_MESSAGE
    known = BY_SUBJECT.get(key.partition(".")[0]) or BY_CODE_AFTER_RCPT.get(code if not key else 0)
    if known is not None:
        return known
    is_explained = MESSAGE_HINT.search(lowered) or HARD_HINT.search(lowered)
    is_of_recipient = RECIPIENT_HINT.search(lowered) and REFUSAL_HINT.search(lowered)
    return Fault.PERMANENT_MESSAGE if is_explained or is_of_recipient else Fault.UNRECOGNIZED
