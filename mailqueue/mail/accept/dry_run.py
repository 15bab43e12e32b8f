"""Report the result a mail would have, without storing anything."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn, Lend
from mailqueue.mail.accept.enqueue import NewEmail, message_of, unstorable
from mailqueue.mail.accept.store import enqueue as enqueue_store
from mailqueue.mail.message.attachments import refs_of
from mailqueue.mail.message.preview import (
    MessageSources,
    StoredEmail,
    build_preview,
    stored_email,
)

LARGE_BYTES = 10 * 1024 * 1024
"""Size in bytes above which a warning is given: many servers refuse larger messages."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """Result that a mail would have: queued, suppressed or rejected with the reason."""

    status: str
    reason: str | None
    recipients: list[dict[str, Any]]
    route: dict[str, Any] | None
    limit: dict[str, Any] | None
    message: bytes | None  # as a server would receive it, but without signatures
    warnings: list[str]


async def try_email(
    lend: Lend, library: MessageSources, email: NewEmail, *, project: str, project_id: UUID
) -> DryRun:
    """Accept a mail, read it and roll back; then compose it, with no connection held.

    Raises:
        InvalidField: it has characters that cannot be stored.
    """
    fault = unstorable(email)
    if fault is not None:
        raise fault
    async with lend() as conn:
        found = await _tried(conn, project, email)
    if "letter" not in found:
        return DryRun(found["status"], found["reason"], [], None, None, None, [])
    shown = stored_email(found["letter"], project_id)
    given = _given(shown, email.options.get("attachments"))
    message, warnings = await _message(lend, library, shown, given)
    return DryRun(
        status=found["status"],
        reason=found["reason"],
        recipients=_recipients(found),
        route={name: found[name] for name in _ROUTE},
        limit=found["limit"],
        message=message,
        warnings=[*warnings, *_warnings(found, shown, message)],
    )


_ROUTE = ("rule", "senders", "priority", "scheduled_at", "expires_at", "delivery")


async def _tried(conn: Conn, project: str, email: NewEmail) -> dict[str, Any]:
    return await enqueue_store.try_email(conn, project, message_of(email))


def _given(shown: StoredEmail, files: object) -> dict[UUID, bytes]:
    """Return the files that came with the mail: their rows were rolled back. Pure."""
    listed = files if isinstance(files, list) else []
    return {
        ref.id: b64decode(one["content"])
        for ref, one in zip(refs_of(shown.email), listed, strict=False)
        if "content" in one
    }


async def _message(
    lend: Lend, library: MessageSources, shown: StoredEmail, files: Mapping[UUID, bytes]
) -> tuple[bytes | None, list[str]]:
    try:
        letter = await build_preview(lend, library, shown, files)
    except (ValueError, MailqueueError) as exc:
        return None, [f"the message cannot be built: {exc}"]
    return letter.message, []


def _recipients(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    letter = row["letter"]
    is_stopped = row["status"] == "suppressed"
    only = {
        "kind": "to",
        "address": letter["recipient_email"],
        "name": letter["recipient_name"],
        "status": "suppressed" if is_stopped else "pending",
        "reason": row["reason"] if is_stopped else None,
    }
    return letter["recipients"] or [only]


def _warnings(row: Mapping[str, Any], shown: StoredEmail, message: bytes | None) -> list[str]:
    """Return warnings about valid but possibly unintended input. Pure."""
    content, letter = shown.email.content, row["letter"]
    senders = row["senders"] or []
    to = [one for one in letter["recipients"] or () if one["kind"] == "to"]
    cases = (
        (
            content is not None
            and content.template_version_id is None  # a template makes a text from its HTML
            and not content.text_body,
            "there is no plain text for mail programs without HTML",
        ),
        (
            letter["category"] == "marketing"
            and message is not None
            and b"\r\nlist-unsubscribe:" not in message.partition(b"\r\n\r\n")[0].lower(),
            "large providers treat marketing without the header List-Unsubscribe as spam",
        ),
        (len(to) > 1, f"{len(to)} recipients in To see each other's addresses"),
        (
            message is not None and len(message) > LARGE_BYTES,
            "the message has more than 10 MiB, which many servers refuse",
        ),
        (not senders, "the project has no sender account: the email would wait for one"),
        (
            bool(senders) and all(one["why"] for one in senders),
            f"no sender account can send now: {senders[0]['why'] if senders else ''}",
        ),
    )
    return [says for holds, says in cases if holds]
