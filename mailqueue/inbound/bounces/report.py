"""Parse delivery status notifications (RFC 3464, RFC 6533), recipient by recipient. Pure."""

import re

from mailqueue.inbound.bounces.causes import code_of, reason_of
from mailqueue.inbound.bounces.fields import Group, address_of, first, groups_of, typed
from mailqueue.inbound.bounces.model import BounceReason, Cause, Fate, ReportedRecipient
from mailqueue.inbound.bounces.tree import BouncePart

MAX_DETAIL_CHARACTERS = 1_000
MAX_REPORTS = 5
"""Most reports of one message that are parsed; the first that names a recipient counts."""

STATUS_TYPES = frozenset({"message/delivery-status", "message/global-delivery-status"})
_ABOUT_RECIPIENT = frozenset({"final-recipient", "original-recipient", "action", "status"})
_NAMES_RECIPIENT = re.compile(r"^(?:Final|Original)-Recipient:", re.M | re.I)
_SAYS_STATUS = re.compile(r"\n(?:Action|Status):", re.I)
_IN_DOUBT = re.compile(r"^(?:smtp;?)?[\s\d.\-#<>()]*$|^(?:smtp; ?)?\d{3}[^A-Za-z]*$", re.I)
_UNDERSTOOD = frozenset({"delivered", "relayed", "expanded"})
_NEXT_ADDRESS = re.compile(r"\n[ \t]*<?[\w.+=-]{1,64}@[\w.-]{1,80}>?:")


def status_part(root: BouncePart) -> BouncePart | None:
    """Return the part with the report's fields, also where it has another content type."""
    # Texts that our own mail contained are not the reporting server's statement.
    parts = [part for part in _outer(root) if part.content_type in STATUS_TYPES]
    if parts:  # some servers put their text for people under this content type
        return next((part for part in parts[:MAX_REPORTS] if names_recipients(part)), parts[0])
    for part in _outer(root):
        is_leaf = not part.children and part.content_type.startswith(("text/", "message/"))
        if is_leaf and _looks_like_it(part.text()):
            return part
    return None


def _looks_like_it(text: str) -> bool:
    """Return whether a block of lines names a recipient and, further down, a status."""
    for block in text.split("\n\n"):
        found = _NAMES_RECIPIENT.search(block)
        if found is not None and _SAYS_STATUS.search(block, found.end()):
            return True
    return False


def _outer(root: BouncePart) -> list[BouncePart]:
    found = [root]
    for child in root.children:
        if child.content_type.startswith("message/") and child.content_type not in STATUS_TYPES:
            continue
        found += _outer(child)
    return found


def names_recipients(status: BouncePart) -> bool:
    """Return whether the part has the fields of a report."""
    return any(_ABOUT_RECIPIENT & group.keys() for group in groups_of(status.text()))


def report_recipients(
    status: BouncePart, text: str
) -> tuple[tuple[ReportedRecipient, ...], str, str]:
    """Return the recipients of a report, the reporting server, and our envelope id.

    `text` is the part for people; it holds the reason where the fields do not.
    """
    source = status.text()
    if status.content_type not in STATUS_TYPES:
        source = source[_beginning(source) :]
    told: list[ReportedRecipient] = []
    reporter = envelope_id = ""
    for group in groups_of(source):
        reporter = reporter or typed(first(group, "reporting-mta"))[1]
        envelope_id = envelope_id or first(group, "original-envelope-id")
        if _ABOUT_RECIPIENT & group.keys() and (one := _recipient_of(group, text)) is not None:
            told.append(one)
    return tuple(_without_twins(told)), reporter, envelope_id


def _beginning(source: str) -> int:
    found = re.search(
        r"^(?:Reporting-MTA|Final-Recipient|Original-Recipient):", source, re.M | re.I
    )
    return found.start() if found else 0


def _recipient_of(group: Group, text: str) -> ReportedRecipient | None:
    recipient = address_of(first(group, "final-recipient"))
    original = address_of(first(group, "original-recipient"))
    if not recipient:
        recipient = original or address_of(first(group, "x-actual-recipient"))
    status = first(group, "status")
    diagnostics = [typed(value)[1] for value in group.get("diagnostic-code", [])]
    detail = " ".join(diagnostics)
    action = (first(group, "action").split() or [""])[0].strip(";,").lower()
    reason = _reason(action, status, detail, group)
    if reason.cause is Cause.UNSAID or _IN_DOUBT.match(detail):
        words = said_of(recipient, text)
        second = _reason(action, status, f"{detail} {words}".strip(), group)
        if second.cause is not Cause.UNSAID:
            reason, detail = second, f"{detail} {words}".strip()
    if reason.fate is Fate.IGNORED:
        return None
    remote = typed(first(group, "remote-mta"))[1]
    return ReportedRecipient(recipient, reason, detail[:MAX_DETAIL_CHARACTERS], original, remote)


def _reason(action: str, status: str, detail: str, group: Group) -> BounceReason:
    if action in ("deliverable", "undeliverable"):  # an address check: nothing was sent
        return BounceReason(Fate.IGNORED, Cause.UNSAID)
    if action in _UNDERSTOOD or (not action and status.startswith("2")):
        return BounceReason(Fate.DELIVERED, Cause.UNSAID, code_of(status, ""))
    if action == "delayed" or (not action and "will-retry-until" in group):
        return reason_of(status, detail, is_final=False)
    if action.startswith(("fail", "expired")) or status[:1] in ("4", "5"):
        return reason_of(status, detail)
    return BounceReason(Fate.IGNORED, Cause.UNSAID)


def said_of(recipient: str, text: str) -> str:
    """Return the sentence that follows an address in the text for people, or the whole text if
    short.

    `text` does not include the returned mail.
    """
    at = text.lower().find(recipient.lower()) if recipient else -1
    if at < 0:
        return " ".join(text[: 4 * MAX_DETAIL_CHARACTERS].split())[:MAX_DETAIL_CHARACTERS]
    at += len(recipient)
    behind = text[at : at + 4 * MAX_DETAIL_CHARACTERS].lstrip(">:;,. \t\n")
    behind = _NEXT_ADDRESS.split(behind, maxsplit=1)[0]
    paragraph = behind.split("\n\n")[0]
    if len(paragraph) < 20:
        paragraph = "\n".join(behind.split("\n\n")[:2])
    return " ".join(paragraph.split())[:MAX_DETAIL_CHARACTERS]


def _without_twins(recipients: list[ReportedRecipient]) -> list[ReportedRecipient]:
    """Return each recipient once: the last report about a recipient of the same kind counts."""
    kept: dict[tuple[str, Fate], ReportedRecipient] = {}
    for one in recipients:
        kept[one.recipient.lower(), one.reason.fate] = one
    return list(kept.values())
