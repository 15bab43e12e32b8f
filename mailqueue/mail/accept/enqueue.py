"""Hands mail in from Python: one, or a batch that is accepted in one transaction."""

from collections.abc import Mapping, Sequence
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
    """A mail somebody wants sent, not looked at yet; `options` are those of SQL's enqueue()."""

    recipient: str  # an address, or Name <address>
    subject: str | None  # None: a template says it, which is named by the options
    html: str | None = None
    text: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


async def enqueue(conn: Conn, email: NewEmail, *, project: str) -> UUID:
    """Accept one mail and return its id; a mail accepted before under its key gives that one's.

    Raises:
        InvalidField: nothing is stored.
    """
    fault = unstorable(email)
    if fault is not None:
        raise fault
    return await enqueue_store.enqueue(
        conn,
        project,
        recipient=email.recipient,
        subject=email.subject,
        html=email.html,
        text=email.text,
        options=email.options,
    )


async def enqueue_batch(
    conn: Conn, emails: Sequence[NewEmail], *, project: str, is_trial: bool = False
) -> list[BatchRow]:
    """Accept mails in one transaction; a row for each, in order, also for those refused.

    A trial goes all the way and takes it back.

    Raises:
        InvalidField: there is no such project.
    """
    refused = {n: fault for n, email in enumerate(emails) if (fault := unstorable(email))}
    messages = [message_of(email) for n, email in enumerate(emails) if n not in refused]
    if is_trial:
        async with conn.transaction(force_rollback=True):
            rows = iter(await enqueue_store.enqueue_batch(conn, project, messages))
    else:  # one statement is a transaction of its own, without two more questions to the server
        rows = iter(await enqueue_store.enqueue_batch(conn, project, messages))
    return [
        BatchRow(n, None, "rejected", str(refused[n])) if n in refused else _moved(next(rows), n)
        for n in range(len(emails))
    ]


def split(email: NewEmail) -> list[NewEmail]:
    """Return the mails that one is sent as: itself, or several where it has many recipients. Pure.

    All of them have the headers of the one, and each has some of its recipients and a key.

    Raises:
        InvalidField: it has too many recipients.
    """
    given: Mapping[str, Any] = email.options
    to = [email.recipient, *given.get("to", ())]
    cc, bcc = given.get("cc", ()), given.get("bcc", ())
    if (count := len(to) + len(cc) + len(bcc)) <= MAX_OF_MAIL:
        return [email]
    if count > MAX_RECIPIENTS:
        raise InvalidField("to", f"one message may have {MAX_RECIPIENTS} recipients, got {count}")
    known: set[str] = set()
    everyone = Share(*(_unknown(some, known) for some in (to, cc, bcc)))
    said = {name: value for name, value in given.items() if name not in ("to", "cc", "bcc")}
    headers = {"to": to, "cc": list(cc)}
    return [
        replace(email, recipient=str(message.pop("recipient")), options=message)
        for message in messages_of(said, everyone, headers=headers)
    ]


def _unknown(boxes: Sequence[str], known: set[str]) -> list[str]:
    """Return the mailboxes whose address is not known yet: nobody gets two mails."""
    found = []
    for box in boxes:
        try:
            address = parse_mailbox(box).address.sent
        except InvalidAddress:
            address = box  # refused by the rules of mail
        if address not in known:
            known.add(address)
            found.append(box)
    return found


def unstorable(email: NewEmail) -> InvalidField | None:
    """Name the field with characters no text in PostgreSQL can hold. Pure."""
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
    return BatchRow(index, row.id, row.status, row.reason)
