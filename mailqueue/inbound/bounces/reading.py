"""Classify a message that came back; the order of the steps is decided here. Pure.

Reports first, because they are unambiguous; then automatic replies, which never count; then bounces
in free text.
"""

from dataclasses import replace

from mailqueue.inbound.bounces.answers import REJECTED, answer_in, is_receipt
from mailqueue.inbound.bounces.feedback import (
    feedback_part,
    feedback_recipients,
    is_complaint_of_old,
    old_complaint_recipients,
)
from mailqueue.inbound.bounces.library import named_by_library
from mailqueue.inbound.bounces.model import BounceKind, Fate, ParsedBounce, ReportedRecipient
from mailqueue.inbound.bounces.plain_text import text_of
from mailqueue.inbound.bounces.report import (
    STATUS_TYPES,
    names_recipients,
    report_recipients,
    status_part,
)
from mailqueue.inbound.bounces.returned import returned_in
from mailqueue.inbound.bounces.tree import DEFAULT_LIMITS, BouncePart, read_tree
from mailqueue.inbound.bounces.unstructured import (
    count_bounce_marks,
    failed_recipients,
    is_daemon,
    is_failure_text,
    stated_reason,
)
from mailqueue.mime.reader import MimeLimits

NOTHING = ParsedBounce(BounceKind.OTHER, why="it reports no failure")


def read_bounce(
    raw: bytes, *, is_null_sender: bool = False, limits: MimeLimits = DEFAULT_LIMITS
) -> ParsedBounce:
    """Parse a bounce message; never raises.

    `is_null_sender` is true where its envelope had an empty sender.
    """
    tree = read_tree(raw, limits)
    reading = _read(tree.root, is_null_sender=is_null_sender)
    is_unnamed = reading.kind is BounceKind.TEXT and not reading.recipients[0].recipient
    if is_unnamed and tree.is_complete:
        reading = replace(reading, recipients=_recipients_of_library(raw, reading.recipients[0]))
    if reading.kind is BounceKind.TEXT and reading.why == NOTHING.why:  # no recipient found so far
        is_found = bool(reading.recipients[0].recipient)
        why = "a bounce recognized by the library"
        recipients, kind = (
            (reading.recipients, BounceKind.TEXT) if is_found else ((), BounceKind.OTHER)
        )
        reading = replace(
            reading, recipients=recipients, kind=kind, why=why if is_found else NOTHING.why
        )
    return replace(reading, is_complete=tree.is_complete)


def _recipients_of_library(raw: bytes, unnamed: ReportedRecipient) -> tuple[ReportedRecipient, ...]:
    """Return the recipients that the library finds in a bounce, each with the reason found without
    it.
    """
    delayed, failed = named_by_library(raw)
    given_up = unnamed.reason
    for_now = replace(given_up, fate=Fate.DELAYED)
    told = [replace(unnamed, recipient=one, reason=given_up) for one in failed]
    told += [replace(unnamed, recipient=one, reason=for_now) for one in delayed]
    return tuple(told) or (unnamed,)


def _read(root: BouncePart, *, is_null_sender: bool) -> ParsedBounce:
    returned = returned_in(root)
    if (feedback := feedback_part(root)) is not None:
        told, returned = feedback_recipients(feedback, returned)
        return ParsedBounce(
            BounceKind.COMPLAINT, told, returned, told[0].remote, "a feedback report"
        )
    if is_complaint_of_old(root):
        told = old_complaint_recipients(root, returned)
        return ParsedBounce(
            BounceKind.COMPLAINT, told, returned, "Hotmail", "a complaint without a report"
        )
    text = text_of(root)
    if is_receipt(root) and not REJECTED.search(text):
        return ParsedBounce(BounceKind.RECEIPT, (), returned, why="a read receipt")
    marks = count_bounce_marks(root, text, is_null_sender=is_null_sender)
    status = status_part(root)
    is_pasted = status is not None and status.content_type not in STATUS_TYPES and not marks
    if status is not None and names_recipients(status) and not is_pasted:
        told, reporter, envelope_id = report_recipients(status, text)
        returned = replace(returned, envelope_id=envelope_id)
        return ParsedBounce(
            BounceKind.REPORT, told, returned, reporter, "a delivery status notification"
        )
    writes = is_daemon(root)
    if answer := answer_in(root, is_daemon=writes):
        return ParsedBounce(BounceKind.AUTOREPLY, (), returned, why=answer)
    if not is_failure_text(text, marks):
        nothing = replace(NOTHING, returned=returned)
        # People forward bounces to each other: a nested mail alone is not a mark.
        is_marked = marks > any(part.content_type == "message/rfc822" for part in root.children)
        return (
            replace(nothing, kind=BounceKind.TEXT, recipients=_unnamed(text))
            if is_marked
            else nothing
        )
    told = failed_recipients(root, text, returned) or _unnamed(text)
    return ParsedBounce(
        BounceKind.TEXT, told, returned, root.header("From")[:200], "a bounce in free text"
    )


def _unnamed(text: str) -> tuple[ReportedRecipient, ...]:
    reason, detail = stated_reason(text)
    return (ReportedRecipient("", reason, detail),)
