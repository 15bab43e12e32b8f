"""Decides what a delivery status notification says of each recipient (RFC 3464, RFC 6533). Pure."""

import re

from mailqueue.inbound.bounces.causes import code_of, reason_of
from mailqueue.inbound.bounces.fields import Group, address_of, first, groups_of, typed
from mailqueue.inbound.bounces.model import BounceReason, Cause, Fate, ReportedRecipient
from mailqueue.inbound.bounces.tree import BouncePart

MAX_DETAIL_CHARACTERS = 1_000
MAX_REPORTS = 5
"""In one message; the first that names somebody counts."""

STATUS_TYPES = frozenset({"message/delivery-status", "message/global-delivery-status"})
_ABOUT_RECIPIENT = frozenset({"final-recipient", "original-recipient", "action", "status"})
_NAMES_RECIPIENT = re.compile(r"^(?:Final|Original)-Recipient:", re.M | re.I)
_SAYS_STATUS = re.compile(r"\n(?:Action|Status):", re.I)
_IN_DOUBT = re.compile(r"^(?:smtp;?)?[\s\d.\-#<>()]*$|^(?:smtp; ?)?\d{3}[^A-Za-z]*$", re.I)
_UNDERSTOOD = frozenset({"delivered", "relayed", "expanded"})
_NEXT_ADDRESS = re.compile(r"\n[ \t]*<?[\w.+=-]{1,64}@[\w.-]{1,80}>?:")


def status_part(root: BouncePart) -> BouncePart | None:
    """Find the part with the fields, also where it is called something else."""
    # What our own mail had in it, and came back with, is not theirs to say.
    parts = [part for part in _outer(root) if part.content_type in STATUS_TYPES]
    if parts:  # some write what they say to people under its name, too
        return next((part for part in parts[:MAX_REPORTS] if names_recipients(part)), parts[0])
    for part in _outer(root):
        is_leaf = not part.children and part.content_type.startswith(("text/", "message/"))
        if is_leaf and _looks_like_it(part.text()):
            return part
    return None


def _looks_like_it(text: str) -> bool:
    """Return whether a block of lines names a recipient, and a status further down."""
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
    """Return whether it holds what a report must: some say that they have none."""
    return any(_ABOUT_RECIPIENT & group.keys() for group in groups_of(status.text()))


def report_recipients(
    status: BouncePart, text: str
) -> tuple[tuple[ReportedRecipient, ...], str, str]:
    """Return what it says of each recipient, who reports, and our envelope's id.

    `text` is what it says to people: there stands why, where the fields keep it to themselves.
    """
    source = status.text()
    if status.content_type not in STATUS_TYPES:
        source = source[_beginning(source) :]
    told: list[ReportedRecipient] = []
    reporter = envelope_id = ""
    for group in groups_of(source):
        reporter = reporter or typed(first(group, "reporting-mta"))[1]
        envelope_id = envelope_id or first(group, "original-envelope-id")
        if _ABOUT_RECIPIENT & group.keys() and (one := _told(group, text)) is not None:
            told.append(one)
    return tuple(_without_twins(told)), reporter, envelope_id


def _beginning(source: str) -> int:
    found = re.search(
        r"^(?:Reporting-MTA|Final-Recipient|Original-Recipient):", source, re.M | re.I
    )
    return found.start() if found else 0


def _told(group: Group, text: str) -> ReportedRecipient | None:
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
    if action in ("deliverable", "undeliverable"):  # somebody only asked, nothing was sent
        return BounceReason(Fate.IGNORED, Cause.UNSAID)
    if action in _UNDERSTOOD or (not action and status.startswith("2")):
        return BounceReason(Fate.DELIVERED, Cause.UNSAID, code_of(status, ""))
    if action == "delayed" or (not action and "will-retry-until" in group):
        return reason_of(status, detail, is_final=False)
    if action.startswith(("fail", "expired")) or status[:1] in ("4", "5"):
        return reason_of(status, detail)
    return BounceReason(Fate.IGNORED, Cause.UNSAID)


def said_of(recipient: str, text: str) -> str:
    """Return the sentence behind an address in the text for people, or the whole where it is short.

    What came back of our own mail is no part of `text`.
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


def _without_twins(told: list[ReportedRecipient]) -> list[ReportedRecipient]:
    """Return each recipient once: the last word on one who was reported twice the same way."""
    kept: dict[tuple[str, Fate], ReportedRecipient] = {}
    for one in told:
        kept[one.recipient.lower(), one.reason.fate] = one
    return list(kept.values())
