"""Classify a refusal by its status code and its text. Pure.

Codes: RFC 3463 and https://www.iana.org/assignments/smtp-enhanced-status-codes. The text decides
where the code is vague; against a specific code it can only make the result milder.
"""

import re

from mailqueue.inbound.bounces.model import BounceReason, Cause, Fate
from mailqueue.inbound.bounces.words import MAX_CHARACTERS, causes_in

# By subject and detail.
BY_CODE: dict[str, tuple[Fate, Cause]] = {
    "1.1": (Fate.HARD, Cause.UNKNOWN_USER),
    "1.2": (Fate.HARD, Cause.UNKNOWN_HOST),
    "1.3": (Fate.HARD, Cause.UNKNOWN_USER),
    "1.4": (Fate.HARD, Cause.UNKNOWN_USER),
    "1.6": (Fate.SOFT, Cause.MOVED),  # hard only when it repeats
    "1.7": (Fate.POLICY, Cause.POLICY),
    "1.8": (Fate.POLICY, Cause.POLICY),
    "1.10": (Fate.HARD, Cause.UNKNOWN_HOST),
    "2.1": (Fate.SOFT, Cause.DISABLED),
    "2.2": (Fate.SOFT, Cause.FULL),
    "2.3": (Fate.SOFT, Cause.SIZE),
    "2.4": (Fate.SOFT, Cause.SYSTEM),
    "3.1": (Fate.SOFT, Cause.SYSTEM),
    "3.2": (Fate.SOFT, Cause.SYSTEM),
    "3.3": (Fate.SOFT, Cause.SYSTEM),
    "3.4": (Fate.SOFT, Cause.SIZE),
    "3.5": (Fate.SOFT, Cause.SYSTEM),
    "4.2": (Fate.SOFT, Cause.NETWORK),
    "4.5": (Fate.SOFT, Cause.SYSTEM),
    "4.6": (Fate.SOFT, Cause.LOOP),
    "4.7": (Fate.SOFT, Cause.EXPIRED),
    "7.13": (Fate.SOFT, Cause.DISABLED),
    "7.17": (Fate.HARD, Cause.MOVED),
    "7.18": (Fate.HARD, Cause.MOVED),
    "7.28": (Fate.POLICY, Cause.RATE),
    "7.38": (Fate.POLICY, Cause.RATE),
}
BY_SUBJECT: dict[str, tuple[Fate, Cause]] = {
    "6": (Fate.POLICY, Cause.CONTENT),
    "7": (Fate.POLICY, Cause.POLICY),
}
VAGUE = frozenset(
    {"0.0", "1.0", "1.5", "1.9", "2.0", "3.0", "4.0", "4.1", "4.3", "4.4", "5.0", "5.1", "5.2"}
    | {"5.4", "5.5", "7.0", "7.1"}
)
"""Codes that servers use for want of a specific one: the text decides first."""

BY_CAUSE: dict[Cause, Fate] = {
    Cause.UNKNOWN_USER: Fate.HARD,
    Cause.UNKNOWN_HOST: Fate.HARD,
    Cause.POLICY: Fate.POLICY,
    Cause.CONTENT: Fate.POLICY,
    Cause.RATE: Fate.POLICY,
    Cause.RELAY: Fate.POLICY,
}
_STRONGER = frozenset({Cause.FULL, Cause.CONTENT, Cause.RATE})
"""Causes in the text that overrule the code for an unknown user."""
_BLOCKLIST = re.compile(r"spamhaus|block ?list|black ?list|\brbl\b|dnsbl|reputation", re.IGNORECASE)
_SAID_UNKNOWN = re.compile(
    r"user unknown|unknown user|no such (?:user|recipient|mailbox)|does(?: not|n't) exist", re.I
)
# Text alone counts where the recipient was named, not where the body had been read (RFC 5321 3.3).
_AT_DATA = re.compile(
    r"in reply to (?:end of )?(?:data|message)|after (?:end of )?data|end[- ]of[- ]data"
    r"|>>> (?:DATA|\.)"
    r"|smtp command data|(?:response|answer) to (?:data|\.)|for (?:text|data) command|final data",
    re.I,
)
_AT_MAIL = re.compile(
    r"in reply to mail from|after mail from|>>> mail from|mail from command", re.I
)

ENHANCED = re.compile(r"(?<![\d.\[])([245])\.(\d{1,2})\.(\d{1,3})(?![\d]|\.\d)")
REPLY = re.compile(r"(?:^|[\s;:,('\"<])(?:smtp; ?)?([45][0-5]\d)(?=[\s\-#:.,)\]]|$)")
_PROVEN = re.compile(  # text of one provider for addresses its directory does not hold
    r"5\.4\.1 (?:\S{0,80}:? ?)?recipient address rejected: access denied"
    r"|(?:recipient|user|address|mailbox)[^\n]{0,60}(?:unknown|not found|does not exist|no such)",
    re.IGNORECASE,
)
_WEAK = re.compile(r"mailbox (?:is )?unavailable", re.IGNORECASE)
_FOR_NOW = re.compile(r"try again|temporar|time(?:d )?out|servfail|lookup fail", re.IGNORECASE)


def reason_of(status: str, detail: str, *, is_final: bool = True) -> BounceReason:
    """Return the bounce reason for a status code ("" where none was given) and a text."""
    detail = detail[:MAX_CHARACTERS]
    code = code_of(status, detail)
    replied = REPLY.search(detail)
    group = code[:1] or (replied[1][:1] if replied else "")
    causes = causes_in(detail)
    if not is_final:
        return BounceReason(Fate.DELAYED, _cause_of(code, causes), code)
    if group == "4":  # retried for as long as the sending server keeps mail
        return BounceReason(Fate.POLICY if _is_policy(code, causes) else Fate.SOFT,
                      _cause_of(code, causes), code)  # fmt: skip
    fate, cause = _judged(code, causes, detail, replied[1] if replied else "")
    return BounceReason(fate, cause, code)


def code_of(status: str, detail: str) -> str:
    """Return the more specific of a status code and the code in a text; "" where there is none."""
    said = ENHANCED.search(status)
    given = ".".join(said.groups()) if said else ""
    found = [".".join(one.groups()) for one in ENHANCED.finditer(detail)]
    found = [one for one in found if one[0] != "2"]
    if not found:
        return given
    telling = [one for one in found if _key(one) not in VAGUE]
    if not given or (_key(given) in VAGUE and telling):
        return telling[0] if telling else found[0]
    if given in found:
        return given
    if telling:
        return telling[0]
    # A policy code, or one of another class, from the server that refused goes before the
    # reporter's.
    is_other = _key(found[0]).startswith("7.") or given[0] != found[0][0]
    return found[0] if is_other else given


def _key(code: str) -> str:
    return code.partition(".")[2]


def _judged(code: str, causes: tuple[Cause, ...], detail: str, reply: str) -> tuple[Fate, Cause]:
    key = _key(code)
    known = BY_CODE.get(key)
    if known is not None and key not in VAGUE:
        return _by_code(known, causes, detail)
    known = BY_SUBJECT.get(key.partition(".")[0])
    if not causes or (known is not None and key not in VAGUE):
        return known or _by_reply(detail, reply)
    if _AT_MAIL.search(detail):
        return Fate.POLICY, Cause.POLICY
    if "5.4.1" in code and _PROVEN.search(detail):
        return Fate.HARD, Cause.UNKNOWN_USER
    cause = causes[0]
    fate = BY_CAUSE.get(cause, Fate.SOFT)
    if cause is Cause.UNKNOWN_HOST and _FOR_NOW.search(detail):
        return Fate.SOFT, Cause.NETWORK
    if fate is Fate.HARD and _AT_DATA.search(detail):
        return Fate.SOFT, cause
    if cause in (Cause.NETWORK, Cause.SYSTEM) and reply == "550" and _WEAK.search(detail):
        return Fate.HARD, Cause.UNKNOWN_USER
    return fate, cause


def _by_code(
    known: tuple[Fate, Cause], causes: tuple[Cause, ...], detail: str
) -> tuple[Fate, Cause]:
    """Classify by the code, unless it says that the address is dead and the text gives another
    cause.
    """
    if known[1] is Cause.DISABLED and causes[:1] == (Cause.UNKNOWN_USER,):
        return (Fate.HARD, causes[0]) if _SAID_UNKNOWN.search(detail) else known
    if known[0] is not Fate.HARD or not causes or causes[0] in (known[1], Cause.UNKNOWN_USER):
        return known
    if known[1] is Cause.UNKNOWN_HOST and _FOR_NOW.search(detail):
        return Fate.SOFT, Cause.NETWORK
    is_said = Cause.UNKNOWN_USER in causes or Cause.UNKNOWN_HOST in causes
    is_blocked = causes[0] in _STRONGER or _BLOCKLIST.search(detail)
    if causes[0] is Cause.FULL or (is_blocked and not is_said):
        return BY_CAUSE.get(causes[0], Fate.SOFT), causes[0]
    return known


def _by_reply(detail: str, reply: str) -> tuple[Fate, Cause]:
    if reply == "550" and _WEAK.search(detail):  # RFC 5321's text for no such mailbox
        return Fate.HARD, Cause.UNKNOWN_USER
    if reply == "552":
        return Fate.SOFT, Cause.FULL
    return Fate.SOFT, Cause.UNSAID


def _cause_of(code: str, causes: tuple[Cause, ...]) -> Cause:
    known = BY_CODE.get(_key(code)) or BY_SUBJECT.get(_key(code).partition(".")[0])
    if causes and (known is None or _key(code) in VAGUE):
        return causes[0]
    return known[1] if known else Cause.UNSAID


def _is_policy(code: str, causes: tuple[Cause, ...]) -> bool:
    return BY_CAUSE.get(_cause_of(code, causes)) is Fate.POLICY
