"""Applies SQL files of the schema in a transaction, with short waits for locks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from psycopg import Error, errors

from mailqueue.core.errors import MailqueueError, Unavailable
from mailqueue.db.fetch import Conn

# A waiting ALTER TABLE blocks later statements on the table: give up soon and try again.
_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'"
_LOCK_TRIES = 20
_PAUSE_SECONDS = 1.0
_SHUT_OUT = (errors.LockNotAvailable, errors.DeadlockDetected)
# Raised if a runner of an earlier release, without leases, changes the same function.
_RACED = "tuple concurrently updated"


class MigrationFailed(MailqueueError):
    """PostgreSQL refused an SQL file of the schema; none of it was applied."""


@dataclass(frozen=True, slots=True)
class SqlFile:
    """The text of an SQL file, and its name for messages."""

    name: str
    text: str


async def apply_together(
    conn: Conn, files: Sequence[SqlFile], *, record: Callable[[], Awaitable[object]]
) -> None:
    """Apply the files in order and record that, in one transaction.

    Raises:
        MigrationFailed: PostgreSQL refused a file; the message names file and line.
        Unavailable: a lock was not available in time.
    """

    async def attempt() -> None:
        async with conn.transaction():
            await conn.execute(_LOCK_TIMEOUT)
            for file in files:
                await _execute(conn, file)
            await record()

    await _patiently(attempt, files[-1])


async def apply_alone(conn: Conn, file: SqlFile) -> None:
    """Apply a file with one statement, run outside a transaction (CREATE INDEX CONCURRENTLY)."""
    await _patiently(lambda: _execute(conn, file), file)


async def _patiently(attempt: Callable[[], Awaitable[None]], file: SqlFile) -> None:
    for _ in range(_LOCK_TRIES):
        try:
            return await attempt()
        except _SHUT_OUT:
            await asyncio.sleep(_PAUSE_SECONDS)
    raise Unavailable(
        f"{file.name} could not obtain its locks in {_LOCK_TRIES} attempts: "
        "end the transaction that holds them (see pg_stat_activity) and migrate again"
    )


async def _execute(conn: Conn, file: SqlFile) -> None:
    try:
        await conn.execute(file.text.encode(), prepare=False)
    except _SHUT_OUT:
        raise
    except Error as exc:
        if isinstance(exc, errors.InternalError_) and _RACED in str(exc):
            raise errors.LockNotAvailable(str(exc)) from exc
        raise MigrationFailed(f"{file.name}{_line(exc, file.text)}: {_described(exc)}") from exc


def _line(exc: Error, text: str) -> str:
    position = exc.diag.statement_position
    return f":{text.count(chr(10), 0, int(position) - 1) + 1}" if position else ""


def _described(exc: Error) -> str:
    parts = (exc.diag.message_primary or str(exc), exc.diag.message_detail, exc.diag.context)
    return "; ".join(part for part in parts if part)
