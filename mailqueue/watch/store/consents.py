"""Consents of owners of inboxes at Gmail as rows."""

from datetime import datetime
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.watch import watch as sql
from mailqueue.watch.model import PendingConsent, SealedInboxToken


async def begin(conn: Conn, wanted: PendingConsent, *, state_hash: bytes, by: str) -> datetime:
    """Add a state; return when it ends.

    Raises:
        InvalidField: a field is invalid.
    """
    values = wanted._asdict() | {"state_hash": state_hash, "by": by}
    values["folders"] = list(wanted.folders)
    with refusals(otherwise="email_address"):
        async with conn.transaction():
            return await fetch.value(conn, sql.BEGIN_INBOX_CONSENT, values, datetime)


async def take(conn: Conn, state_hash: bytes) -> PendingConsent | None:
    """Delete a state; return what it was begun for, or None if there is none or it has ended."""
    values = {"state_hash": state_hash}
    return await fetch.maybe(conn, sql.TAKE_INBOX_CONSENT, values, PendingConsent)


async def find_inbox(
    conn: Conn, project_id: UUID, *, user_id: UUID, email_address: str
) -> UUID | None:
    """Return the id of a person's inbox of an address."""
    values = {"project_id": project_id, "user_id": user_id, "email_address": email_address}
    return await fetch.maybe(conn, sql.FIND_INBOX_OF_ADDRESS, values, UUID)


async def connect(
    conn: Conn, inbox_id: UUID, pending: PendingConsent, *, sealed: bytes, by: str
) -> bool:
    """Add or reconnect an inbox; return False where the person has another of the address.

    Raises:
        InvalidField: the person was removed, or has too many inboxes.
    """
    values = pending._asdict() | {"id": inbox_id, "sealed": sealed, "by": by}
    values["folders"] = list(pending.folders)
    with refusals(otherwise="email_address"):
        async with conn.transaction():
            return await fetch.value(conn, sql.CONNECT_GMAIL, values, bool)


async def wake(conn: Conn, address: str) -> int:
    """Let the inboxes at Gmail of an address be scanned at once; return how many."""
    return await fetch.value(conn, sql.WAKE_GMAIL_INBOXES, {"address": address}, int)


async def is_watched(conn: Conn, address: str) -> bool:
    """Return whether an inbox at Gmail is watched for a person of any project."""
    return await fetch.value(conn, sql.IS_GMAIL_WATCHED, {"address": address}, bool)


async def note_consent(
    conn: Conn, project_id: UUID, subject: UUID, *, result: str, by: str
) -> None:
    """Write to the audit log what became of a consent: refused, revoked or not_revoked."""
    values = {"project_id": project_id, "subject": str(subject), "result": result, "by": by}
    await fetch.run(conn, sql.NOTE_INBOX_CONSENT, values)


async def list_tokens(
    conn: Conn, project_id: UUID, *, inbox_id: UUID | None, user_id: UUID | None
) -> list[SealedInboxToken]:
    """Return sealed refresh tokens of an inbox or of a person's inboxes."""
    values = {"project_id": project_id, "inbox_id": inbox_id, "user_id": user_id}
    return await fetch.many(conn, sql.LIST_GMAIL_TOKENS, values, SealedInboxToken)
