"""Parse feedback reports (complaints, RFC 5965). Pure."""

import re
from dataclasses import replace

from mailqueue.inbound.bounces.fields import Group, first, groups_of
from mailqueue.inbound.bounces.model import (
    BounceReason,
    Cause,
    Fate,
    ReportedRecipient,
    ReturnedMail,
)
from mailqueue.inbound.bounces.returned import addresses_in
from mailqueue.inbound.bounces.tree import BouncePart

FEEDBACK_TYPE = "message/feedback-report"
COMPLAINTS = frozenset(
    {"abuse", "fraud", "virus", "other", "opt-out", "opt-out-list", "miscategorized"}
)
"""Feedback types that are complaints; not-spam, auth-failure and dmarc are not."""
_COMPLAINED = BounceReason(Fate.COMPLAINED, Cause.POLICY)
_IGNORED = BounceReason(Fate.IGNORED, Cause.UNSAID)
_OLD_SENDER = re.compile(r"\bstaff@hotmail\.com\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9-]{1,40}")


def feedback_part(root: BouncePart) -> BouncePart | None:
    """Return the part with the report's fields, also where the message declares no report-type."""
    for part in root.walk():
        if part.content_type == FEEDBACK_TYPE:
            return part
    return None


def feedback_recipients(
    part: BouncePart, returned: ReturnedMail
) -> tuple[tuple[ReportedRecipient, ...], ReturnedMail]:
    """Return the recipients who complained, and the returned mail with the data of the report."""
    merged: Group = {}
    for group in groups_of(part.text()):
        for name, values in group.items():
            merged.setdefault(name, []).extend(values)
    named = first(merged, "feedback-type").strip().lower()
    feedback = (_WORD.match(named) or [""])[0]
    reason = _COMPLAINED if feedback in COMPLAINTS else _IGNORED
    senders = addresses_in(first(merged, "original-mail-from"))
    returned = replace(
        returned,
        return_path=senders[0] if senders else returned.return_path,
        envelope_id=first(merged, "original-envelope-id") or returned.envelope_id,
    )
    recipients = [
        address
        for name in ("original-rcpt-to", "removal-recipient")
        for value in merged.get(name, [])
        for address in addresses_in(value)
    ]
    who = list(dict.fromkeys(recipients)) or list(returned.recipients[:1]) or [""]
    detail = f"feedback-type {feedback or 'missing'}"
    agent = first(merged, "user-agent")[:200]
    return tuple(
        ReportedRecipient(one, reason, detail, feedback=feedback, remote=agent) for one in who
    ), returned


def is_complaint_of_old(root: BouncePart) -> bool:
    """Return whether a message is a complaint without a report, as one large provider sends."""
    return (
        bool(_OLD_SENDER.search(root.header("From")))
        and root.header("Subject").strip().lower().startswith("complaint about message from")
        and any(part.children for part in root.children)
    )


def old_complaint_recipients(
    root: BouncePart, returned: ReturnedMail
) -> tuple[ReportedRecipient, ...]:
    """Return the recipients of such a complaint, which a header field of the mail names."""
    named = [
        address
        for part in root.walk()
        for value in part.values("X-HmXmrOriginalRecipient")
        for address in addresses_in(value)
    ]
    who = named or list(returned.recipients)
    return tuple(
        ReportedRecipient(one, _COMPLAINED, "complaint", feedback="abuse")
        for one in who[:1] or [""]
    )
