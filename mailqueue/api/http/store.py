"""SQL statements for requests: stored responses, and whether mail is accepted."""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from psycopg.errors import LockNotAvailable

from mailqueue.api.http.responses import Busy
from mailqueue.db.fetch import Conn, maybe, run
from mailqueue.db.statements.emails import api as api_sql
from mailqueue.db.statements.projects import rate_limit as rate_limit_sql

DUPLICATE_WAIT = "10s"
"""Time to wait for a concurrent request with the same idempotency key; then 409."""


class Earlier(NamedTuple):
    """The stored response of an idempotency key; `status` None: none yet."""

    fingerprint: bytes
    status: int | None
    content_type: str | None
    body: bytes | None
    age: timedelta


@dataclass(frozen=True, slots=True)
class ReservedKey:
    """An idempotency key as stored.

    `request_key` is the key as it was sent, and None where keys are separate from those of mails.
    """

    owner: UUID
    key: str
    fingerprint: bytes
    request_key: str | None = None
    is_test: bool = False


class UsedByEmail(Exception):
    """An email was accepted under the idempotency key."""


async def reserve_response(conn: Conn, kept: ReservedKey) -> Earlier | None:
    """Reserve an idempotency key; return the stored response if it is already taken.

    Raises:
        Busy: a concurrent request with this key has not finished in time.
        UsedByEmail: an email was accepted under this key; the transaction must be rolled back.
    """
    params = {"project_id": kept.owner, "key": kept.key}
    more = {"request_key": kept.request_key, "is_test": kept.is_test}
    await run(conn, rate_limit_sql.WAIT_FOR_LOCKS, {"wait": DUPLICATE_WAIT})
    try:
        is_free = await maybe(
            conn,
            rate_limit_sql.CLAIM_ANSWER,
            {**params, **more, "fingerprint": kept.fingerprint},
            bool,
        )
    except LockNotAvailable:
        raise Busy("a request with this Idempotency-Key is in progress; try again") from None
    await run(conn, rate_limit_sql.WAIT_FOR_LOCKS, {"wait": "0"})
    if is_free is False:
        raise UsedByEmail
    return None if is_free else await maybe(conn, rate_limit_sql.READ_ANSWER, params, Earlier)


async def store_response(
    conn: Conn, kept: ReservedKey, *, status: int, content_type: str | None, body: bytes
) -> None:
    """Store the response of a reserved key."""
    params = {
        "project_id": kept.owner,
        "key": kept.key,
        "status": status,
        "content_type": content_type,
        "body": body,
    }
    await run(conn, rate_limit_sql.KEEP_ANSWER, params)


async def release_response(conn: Conn, kept: ReservedKey) -> None:
    """Release a reserved key that had no effect."""
    params = {
        "project_id": kept.owner,
        "key": kept.key,
        "request_key": kept.request_key,
        "is_test": kept.is_test,
    }
    await run(conn, rate_limit_sql.GIVE_BACK_ANSWER, params)


async def find_refusal(conn: Conn) -> str | None:
    """Return why emails are not accepted now; None if they are."""
    return await maybe(conn, api_sql.FIND_REFUSAL, None, str)
