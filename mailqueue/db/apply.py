"""Applies files of the schema, all or nothing, without queueing long behind anybody's lock."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from psycopg import Error, errors

from mailqueue.core.errors import MailqueueError, Unavailable
from mailqueue.db.fetch import Conn

# A waiting ALTER TABLE makes everybody behind it wait too: give up soon and come again.
_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'"
_LOCK_TRIES = 20
_PAUSE_SECONDS = 1.0
_SHUT_OUT = (errors.LockNotAvailable, errors.DeadlockDetected)
# A runner of an earlier release, which knows no lease, changed the same function at this moment.
_RACED = "tuple concurrently updated"


class MigrationFailed(MailqueueError):
    """PostgreSQL refused a file of the schema; nothing of it remains."""


@dataclass(frozen=True, slots=True)
class File:
    """A file by the name people know it by."""

    name: str
    text: str


async def apply_together(
    conn: Conn, files: Sequence[File], *, record: Callable[[], Awaitable[object]]
) -> None:
    """Apply the files in order and record that, in one transaction.

    Raises:
        MigrationFailed: naming file and line.
        Unavailable: if others hold a lock for long.
    """

    async def attempt() -> None:
        async with conn.transaction():
            await conn.execute(_LOCK_TIMEOUT)
            for file in files:
                await _execute(conn, file)
            await record()

    await _patiently(attempt, files[-1])


async def apply_alone(conn: Conn, file: File) -> None:
    """Apply a file of one statement that cannot run in a transaction, CREATE INDEX CONCURRENTLY."""
    await _patiently(lambda: _execute(conn, file), file)


async def _patiently(attempt: Callable[[], Awaitable[None]], file: File) -> None:
    for _ in range(_LOCK_TRIES):
        try:
            return await attempt()
        except _SHUT_OUT:
            await asyncio.sleep(_PAUSE_SECONDS)
    raise Unavailable(
        f"{file.name} could not lock what it changes in {_LOCK_TRIES} tries: "
        "end the long transaction that holds it (see pg_stat_activity) and migrate again"
    )


async def _execute(conn: Conn, file: File) -> None:
    try:
        await conn.execute(file.text.encode(), prepare=False)
    except _SHUT_OUT:
        raise
    except Error as exc:
        if isinstance(exc, errors.InternalError_) and _RACED in str(exc):
            raise errors.LockNotAvailable(str(exc)) from exc
        raise MigrationFailed(f"{file.name}{_line(exc, file.text)}: {_told(exc)}") from exc


def _line(exc: Error, text: str) -> str:
    position = exc.diag.statement_position
    return f":{text.count(chr(10), 0, int(position) - 1) + 1}" if position else ""


def _told(exc: Error) -> str:
    parts = (exc.diag.message_primary or str(exc), exc.diag.message_detail, exc.diag.context)
    return "; ".join(part for part in parts if part)
