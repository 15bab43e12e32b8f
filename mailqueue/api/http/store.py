"""Mail as the API accepts and shows it; the only file here that runs SQL."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from psycopg.errors import LockNotAvailable

from mailqueue.api.http.responses import Busy
from mailqueue.contract.emails import Attempt, Email, Event, Recipient
from mailqueue.db.fetch import Conn, many, maybe, run, value

TWIN_WAIT = "10s"
"""How long a request waits for its twin; afterwards it is told to come again."""


async def act_for(
    conn: Conn,
    project_id: UUID | None,
    *,
    by: str,
    key_id: UUID | None = None,
    is_test: bool | None = None,
    is_read_only: bool = False,
) -> bool:
    """Have the rights of the API's role for one project, None for all, until COMMIT.

    `is_test` is the mode of the key, None for both. False where the key is not in force.
    """
    params = {
        "project": "*" if project_id is None else str(project_id),
        "by": by,
        "key": key_id,
        "mode": None if is_test is None else "test" if is_test else "live",
        "read_only": is_read_only,
    }
    return await value(conn, "act_for", params, bool)


class Earlier(NamedTuple):
    """What was answered under an idempotency key; `status` None: nothing yet."""

    fingerprint: bytes
    status: int | None
    content_type: str | None
    body: bytes | None
    age: timedelta


async def claim_answer(conn: Conn, owner: UUID, key: str, *, fingerprint: bytes) -> Earlier | None:
    """Take a key; return what was answered under it where somebody has it.

    Raises:
        Busy: whoever takes it at this moment does not come to an end.
    """
    params = {"project_id": owner, "key": key}
    await run(conn, "wait_for_locks", {"wait": TWIN_WAIT})
    try:
        claimed = await maybe(conn, "claim_answer", {**params, "fingerprint": fingerprint}, str)
    except LockNotAvailable:
        raise Busy("a request under this Idempotency-Key is being answered") from None
    await run(conn, "wait_for_locks", {"wait": "0"})
    return None if claimed is not None else await maybe(conn, "read_answer", params, Earlier)


async def keep_answer(
    conn: Conn, owner: UUID, key: str, *, status: int, content_type: str | None, body: bytes
) -> None:
    """Keep what is answered under a key that was taken."""
    params = {
        "project_id": owner,
        "key": key,
        "status": status,
        "content_type": content_type,
        "body": body,
    }
    await run(conn, "keep_answer", params)


async def give_back_answer(conn: Conn, owner: UUID, key: str) -> None:
    """Leave a key to others: nothing was done under it."""
    await run(conn, "give_back_answer", {"project_id": owner, "key": key})


async def find_suppression(conn: Conn, email_id: UUID) -> str | None:
    """Return the reason a mail was suppressed for when it was accepted, if it was."""
    return await maybe(conn, "find_suppression_at_accept", {"id": email_id}, str)


async def find_email(conn: Conn, email_id: UUID, *, project_id: UUID) -> Email | None:
    """Return an email of a project with all its lists empty; None where there is none."""
    params = {"id": email_id, "project_id": project_id}
    return await maybe(conn, "find_project_email", params, Email)


async def list_recipients(conn: Conn, email_id: UUID) -> list[Recipient]:
    """List the recipients of a message that has several."""
    return await many(conn, "list_email_recipients", {"id": email_id}, Recipient)


async def list_attempts(conn: Conn, email_id: UUID) -> list[Attempt]:
    """List the attempts to hand a mail over, oldest first."""
    return await many(conn, "list_email_attempts", {"id": email_id}, Attempt)


async def list_events(
    conn: Conn,
    email_id: UUID,
    *,
    after: tuple[datetime | None, UUID | None] = (None, None),
    limit: int | None = None,
) -> list[Event]:
    """List what else happened to a mail, oldest first, behind one of them."""
    params = {"id": email_id, "after": after[0], "after_id": after[1], "limit": limit}
    return await many(conn, "list_email_events", params, Event)


async def find_refusal(conn: Conn) -> str | None:
    """Return why no mail is accepted now; None while it is."""
    return await maybe(conn, "find_refusal", None, str)
