"""The statements of the HTTP frame: whose rights a transaction has, and answers kept by key."""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from psycopg.errors import LockNotAvailable

from mailqueue.api.http.responses import Busy
from mailqueue.db.fetch import Conn, maybe, run, value

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


async def find_refusal(conn: Conn) -> str | None:
    """Return why no mail is accepted now; None while it is."""
    return await maybe(conn, "find_refusal", None, str)
