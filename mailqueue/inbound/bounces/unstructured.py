"""Recognize bounces without a machine-readable report: sender, subject, address, reason. Pure."""

import re
from collections.abc import Sequence

from mailqueue.inbound.bounces.causes import reason_of
from mailqueue.inbound.bounces.model import (
    BounceReason,
    Cause,
    Fate,
    ReportedRecipient,
    ReturnedMail,
)
from mailqueue.inbound.bounces.returned import BEGINS
from mailqueue.inbound.bounces.tree import BouncePart
from mailqueue.inbound.bounces.words import causes_in

Lines = list[tuple[str, int]]
"""Lines with their offsets in the text."""

MAX_RECIPIENTS = 100
MAX_LINES = 600
MAX_DETAIL_CHARACTERS = 1_000

DAEMON = re.compile(
    r"mailer[-_ ]?daemon|post_?(?:master|office)\b|mail[-_ ]?(?:daemon|delivery|administrator|admin"
    r"|system|master|router|server)|(?:delivery|system)[-_ ](?:system|sub-?system|administrator"
    r"|service)|\bdaemon@|mdaemon|microsoft ?exchange|mmdf|bounce[sd]?[-_@]|no-?reply-?bounce"
    r"|undeliver|^mail@|<mail@|mailsystem|qmail|\bsmtp\b|mail transport|internet mail|exchange"
    r"|<>",
    re.IGNORECASE,
)
SUBJECT = re.compile(
    r"undeliver|un-deliver|deliver(?:y|ed)?[^\n]{0,20}(?:fail|status|error|problem|notif"
    r"|report|delay"
    r"|unsuccess|not |incomplete)|(?:fail|error|problem|unable|could not|cannot|can't|not)\w{0,20}"
    r"[^\n]{0,20}deliver|return(?:ed|ing)[- :](?:mail|e-?mail|message|to sender|undeliv)"
    r"|(?:mail|message|delivery|smtp) (?:system )?(?:error|fail\w*|problem|returned|rejected"
    r"|status|delivery)|failure[ :-]+(?:notice|notification|delivery)|non[- ]?deliver|failed mail"
    r"|bounce|rejected|could not (?:be )?(?:sent|send|deliver)|couldn't be delivered"
    r"|nicht zustellbar|unzustellbar|zustellung|fehlgeschlagen|übermittlungsstatus|non (?:remis"
    r"|distribu|livr|recapit)|échec|notification d'état|mancata consegna|impossibile recapitare"
    r"|notifica (?:di|dello) stato|no se (?:ha )?pud?|no se puede entregar|no entregad|devuelto"
    r"|não (?:foi )?entregue|não entreg|falha|onbestelbaar|niet (?:bezorgd|afgeleverd)|kunde inte"
    r"|ikke lever|kunne ikke leve|nie dostarcz|niedostarcz|недоставлен|не доставлен|недоставк"
    r"|配信|配送|エラー|戻り|退信|无法投递|無法傳遞|반송|배달|retourné|mail delivery"
    r"|notice: mail"
    r"|warning: (?:could|message)|nondeliverable|user unknown|unknown user|address (?:unknown|not)"
    r"|see transcript|unknown (?:address|recipient)|message could|message status|return receipt"
    r"|virus|delivery$|deferred|transport|mail failed",
    re.IGNORECASE,
)
_NOBODY = re.compile(r"<>|<mailer-daemon(?:@[^>]{0,100})?>|<>$", re.IGNORECASE)
_REPLY_LINE = re.compile(r"^\W{0,6}(?:smtp; ?)?5[0-5]\d[ -]\S", re.MULTILINE)
_TELLING = frozenset({Cause.UNKNOWN_USER, Cause.UNKNOWN_HOST, Cause.FULL, Cause.DISABLED})
_ANSWERED = re.compile(r"^\s*(?:re|aw|sv|antw|fwd?|wg|tr)\s?:", re.IGNORECASE)
BANNER = re.compile(
    r"this is (?:the|an?) (?:qmail|mail (?:delivery|system)|automatic|postfix|mailer|program"
    r"|[^\n]{0,40}delivery)|wasn't able to deliver|unable to deliver|could ?n[o']t be delivered"
    r"|(?:could|can)(?: ?not|'t) (?:be )?deliver|was not delivered|(?:has|have) not been delivered"
    r"|not delivered to|did not reach|(?:permanent|fatal|transient) (?:fatal )?errors?"
    r"|delivery (?:to|of|for|has|attempt)[^\n]{0,60}\b(?:fail|unsuccess|delayed|aborted|refused)"
    r"|undeliverable|undelivered|(?:failed|failure)[^\n]{0,40}(?:deliver|recipient|address)"
    r"|(?:deliver|recipient|address|send)[^\n]{0,40}fail|returned (?:to (?:you|sender)|mail|by)"
    r"|transcript of (?:the )?session|remote host said|reason for (?:the )?(?:failure|return)"
    r"|following (?:destination )?(?:address|recipient|user|error|mail)|error (?:message|occurred)"
    r"|rejected your|was rejected|bounced|(?:problem|error)[^\n]{0,30}deliver"
    r"|incorrectly constructed|message (?:has been|was)"
    r" (?:returned|rejected|refused|blocked)|could ?n[o']t (?:be )?(?:sent|send|process)"
    r"|user unknown|unknown user|not be (?:sent|completed|processed)|cannot (?:be )?(?:send|sent)"
    r"|zugestellt|nicht zustell|remis|consegnat|entregad|配信|送信|エラー|宛先|退",
    re.IGNORECASE,
)
_DELAY = re.compile(
    r"(?:this is a )?warning (?:message )?only|do not need to (?:resend|retry)"
    r"|will (?:continue|keep|be)"
    r" (?:trying|to try|retri)|(?:has|have) been delayed|delivery (?:is |has been )?delay"
    r"|not yet been"
    r" delivered|still (?:trying|being)|no action is required|delayed mail|will be retried"
    r"|hat sich verzögert|delivery is delayed",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z0-9._%+&][A-Za-z0-9._%+&'=/!#$*?^{}~-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,200}[A-Za-z0-9]"
)
_LINE_OF_ADDRESS = re.compile(
    r"^[ \t*>|.-]{0,8}(?:\d{1,2}[.)] )?(?:(?:[A-Za-z']{1,20} ){0,5}?(?:to|user|recipient"
    r"|address|mailbox|for"
    r"|rcpt|account|empf[^ :]{1,10}|destinat\w{1,8})(?:\(s\)|s"
    r"|es)?(?: \w{1,12})?(?: ?[:=][ \t]{0,40}|[ \t]{1,40}|(?=[<('\"\[])))?"
    r"(?:c=[^\n]{0,80}?SMTP=)?(?:rfc822;|smtp;)?[ \t]{0,40}[<(\['\"]{0,2}(?:mailto:|smtp:)?("
    + _ADDRESS.pattern
    + r")[>)\]'\"]{0,2}",
    re.IGNORECASE,
)
_EXPANDED = re.compile(rf"[>\s]{{0,20}}\(expanded from: <?({_ADDRESS.pattern})>?\)")
_NOT_WHO = re.compile(
    r"^(?:mailer-?daemon|postmaster|mail-?daemon|abuse|support|hostmaster|helpdesk"
    r"|noreply|no-reply)@",
    re.IGNORECASE,
)
_NO_ADDRESS_LINE = re.compile(
    r"\b(?:from|sender|reply|contact|message-?id|references|by|via|postmaster|help|support|mailto"
    r"|in-reply-to|return-path|subject|x-[\w-]{1,60})\b[ :]",
    re.IGNORECASE,
)


def is_daemon(root: BouncePart, *, is_null_sender: bool = False) -> bool:
    """Return whether the sender's name is that of a mail server, such as mailer-daemon."""
    return is_null_sender or bool(DAEMON.search(root.header("From") or root.header("Sender")))


def count_bounce_marks(root: BouncePart, text: str, *, is_null_sender: bool) -> int:
    """Return the number of marks of a bounce that a message has."""
    subject = root.header("Subject")
    return sum(
        (
            bool(SUBJECT.search(subject)) and not _ANSWERED.search(subject),
            bool(DAEMON.search(root.header("From") or root.header("Sender"))),
            is_null_sender or bool(_NOBODY.match(root.header("Return-Path").strip())),
            bool(root.header("X-Failed-Recipients")),
            any(part.content_type == "message/rfc822" for part in root.children),
            bool(_REPLY_LINE.search(text)),
        )
    )


def is_failure_text(text: str, marks: int) -> bool:
    """Return whether a message with so many marks is a bounce; with two, its text decides."""
    if marks >= 3:
        return True
    return marks == 2 and bool(BANNER.search(text) or _TELLING & set(causes_in(text)))


def failed_recipients(
    root: BouncePart, text: str, returned: ReturnedMail
) -> tuple[ReportedRecipient, ...]:
    """Return the failed recipients of a bounce in free text, each with its reason where one is
    found.
    """
    before = _before_returned(text)
    is_delay = bool(_DELAY.search(before) or _DELAY.search(root.header("Subject")))
    named = _failed_header(root)
    spots = _spots_of(before, named) if named else _spots(before, root, returned)
    spots = _firsts(spots)[:MAX_RECIPIENTS]
    told: dict[str, ReportedRecipient] = {}
    for number, (address, start) in enumerate(spots):
        end = spots[number + 1][1] if number + 1 < len(spots) else len(before)
        reason, detail = _why(before, start, end, is_final=not is_delay)
        known = told.get(address.lower())
        if known is None or (known.reason.cause is Cause.UNSAID is not reason.cause):
            expanded = _EXPANDED.match(before, start)
            original = expanded[1] if expanded else ""
            told[address.lower()] = ReportedRecipient(address, reason, detail, original)
        if len(told) == MAX_RECIPIENTS:
            break
    return tuple(told.values())


def _firsts(spots: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the first of consecutive spots of the same address."""
    return [
        spot
        for number, spot in enumerate(spots)
        if number == 0 or spot[0].lower() != spots[number - 1][0].lower()
    ]


def stated_reason(text: str) -> tuple[BounceReason, str]:
    """Return the reason that a bounce in free text gives, whichever recipient it names."""
    before = _before_returned(text)
    is_delay = bool(_DELAY.search(before))
    return _why(before, 0, len(before), is_final=not is_delay)


def _before_returned(text: str) -> str:
    found = BEGINS.search(text)
    if found is None or not text[: found.start()].strip():
        return text
    # A transcript may follow the first mark; a returned message does not.
    return text[: found.start()]


def _failed_header(root: BouncePart) -> list[str]:
    found: list[str] = []
    for value in root.values("X-Failed-Recipients"):
        found += _ADDRESS.findall(value)
    return list(dict.fromkeys(found))[:MAX_RECIPIENTS]


def _spots_of(text: str, named: Sequence[str]) -> list[tuple[str, int]]:
    lowered = text.lower()
    spots = []
    for address in named:
        at = lowered.find(address.lower())
        spots.append((address, at + len(address) if at >= 0 else 0))
    return sorted(spots, key=lambda spot: spot[1])


def _spots(text: str, root: BouncePart, returned: ReturnedMail) -> list[tuple[str, int]]:
    """Return the addresses in places where failed addresses stand, with the offset of each end."""
    lines: list[tuple[str, int]] = []
    at = 0
    for line in text.split("\n")[:MAX_LINES]:
        lines.append((line[:500], at))
        at += len(line) + 1
    writers = {each.lower() for each in _ADDRESS.findall(root.header("From"))}
    readers = {each.lower() for each in _ADDRESS.findall(root.header("To"))}
    for avoided in (writers | readers, writers):  # mail to oneself can fail, too
        found = _at_line_begins(lines, avoided) or _in_sentences(lines, avoided)
        if found:
            return found
    who = returned.recipients
    return [(who[0], 0)] if len(who) == 1 else []


def _at_line_begins(lines: Lines, avoided: set[str]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    copied: list[tuple[str, int]] = []  # from headers of our mail: possibly another recipient
    for line, start in lines:
        match = _LINE_OF_ADDRESS.match(line)
        if match and match[1].lower() not in avoided and not _NOT_WHO.search(match[1]):
            is_copy = line.lstrip().lower().startswith("to:")
            (copied if is_copy else found).append((match[1], start + match.end()))
    return found or copied


def _in_sentences(lines: Lines, avoided: set[str]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for line, start in lines:
        if _NO_ADDRESS_LINE.search(line) and not causes_in(line):
            continue
        for match in _ADDRESS.finditer(line):
            if match[0].lower() not in avoided and not _NOT_WHO.search(match[0]):
                found.append((match[0], start + match.end()))
    return found[: 2 * MAX_RECIPIENTS]


def _why(text: str, start: int, end: int, *, is_final: bool) -> tuple[BounceReason, str]:
    behind = _one_line(text[start:end])
    reason = reason_of("", behind, is_final=is_final)
    line_start = text.rfind("\n", 0, start) + 1
    if reason.cause is Cause.UNSAID and reason.fate is not Fate.DELAYED:
        line = _one_line(text[line_start:end])
        second = reason_of("", line, is_final=is_final)
        if second.cause is not Cause.UNSAID:
            return second, line
        whole = _one_line(text)
        third = reason_of("", whole, is_final=is_final)
        if third.cause is not Cause.UNSAID:
            return third, whole
    return reason, behind


def _one_line(text: str) -> str:
    return " ".join(text[: 4 * MAX_DETAIL_CHARACTERS].split())[:MAX_DETAIL_CHARACTERS]
