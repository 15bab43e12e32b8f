"""Emails as callers hand them in, and the batch call of SQL that accepts them."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from mailqueue.core import storable_text
from mailqueue.core.address import InvalidAddress, parse_mailbox
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.shares import MAX_OF_MAIL, MAX_RECIPIENTS, Share, messages_of
from mailqueue.mail.accept.store import enqueue as enqueue_store
from mailqueue.mail.model import BatchRow


@dataclass(frozen=True, slots=True)
class NewEmail:
    """A requested mail, not validated yet; `options` are those of SQL's enqueue()."""

    recipient: str  # an address, or Name <address>
    subject: str | None  # None: the template named in the options has one
    html: str | None = None
    text: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


async def enqueue_batch(
    conn: Conn,
    emails: Sequence[NewEmail],
    *,
    project: str,
    is_trial: bool = False,
    keys: Collection[UUID] = (),
) -> list[BatchRow]:
    """Accept emails in one transaction; return a row for each, in order, also for refused ones.

    A trial is rolled back. `keys` are those of its callers.

    Raises:
        InvalidField: there is no such project.
        Unauthorized: one of the keys is no longer valid, and nothing is stored.
    """
    refused = {n: fault for n, email in enumerate(emails) if (fault := unstorable(email))}
    messages = [message_of(email) for n, email in enumerate(emails) if n not in refused]
    # One statement is its own transaction, without BEGIN and COMMIT.
    async with conn.transaction(force_rollback=True) if is_trial else nullcontext():
        rows = iter(await enqueue_store.enqueue_batch(conn, project, messages, keys=keys))
    return [
        BatchRow(n, None, "rejected", str(refused[n])) if n in refused else _moved(next(rows), n)
        for n in range(len(emails))
    ]


def split(email: NewEmail) -> list[NewEmail]:
    """Return the mails that a mail is sent as: itself, or several if it has many recipients. Pure.

    All have the same headers; each has some of the recipients and a key of its own.

    Raises:
        InvalidField: it has too many recipients.
    """
    given: Mapping[str, Any] = email.options
    to = [email.recipient, *given.get("to", ())]
    cc, bcc = given.get("cc", ()), given.get("bcc", ())
    if (count := len(to) + len(cc) + len(bcc)) <= MAX_OF_MAIL:
        return [email]
    if count > MAX_RECIPIENTS:
        raise InvalidField(
            "to", f"a message may have at most {MAX_RECIPIENTS} recipients, got {count}"
        )
    known: set[str] = set()
    everyone = Share(*(_unknown(some, known) for some in (to, cc, bcc)))
    said = {name: value for name, value in given.items() if name not in ("to", "cc", "bcc")}
    headers = {"to": to, "cc": list(cc)}
    return [
        replace(email, recipient=str(message.pop("recipient")), options=message)
        for message in messages_of(said, everyone, headers=headers)
    ]


def _unknown(boxes: Sequence[str], known: set[str]) -> list[str]:
    """Return the mailboxes whose address is not in `known`, so that each gets one mail."""
    found = []
    for box in boxes:
        try:
            address = parse_mailbox(box).address.sent
        except InvalidAddress:
            address = box  # invalid: SQL refuses it
        if address not in known:
            known.add(address)
            found.append(box)
    return found


def unstorable(email: NewEmail) -> InvalidField | None:
    """Return the error for a field with characters that PostgreSQL cannot store; else None.
    Pure.
    """
    words = {name: getattr(email, name) for name in ("recipient", "subject", "html", "text")}
    return storable_text.unstorable("", words) or storable_text.unstorable("", email.options)


def message_of(email: NewEmail) -> dict[str, object]:
    """Return the mail as one message of SQL's enqueue_batch(). Pure."""
    return {
        **email.options,
        "recipient": email.recipient,
        "subject": email.subject,
        "html": email.html,
        "text": email.text,
    }


def _moved(row: BatchRow, index: int) -> BatchRow:
    return BatchRow(index, row.id, row.status, row.reason, row.refusal)
