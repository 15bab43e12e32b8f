"""SQL that archives and restores records, for each kind."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.sql import ManyRows, NoRows, OneValue
from mailqueue.db.statements.maintenance import records as sql
from mailqueue.db.stream import texts
from mailqueue.maintenance.archive.file_format import Record, time_field
from mailqueue.maintenance.model import Archive, DueMonth, RecordKind
from mailqueue.maintenance.months import Period


@dataclass(frozen=True, slots=True)
class _Statements:
    find: ManyRows
    read: ManyRows
    remove: ManyRows
    restore: OneValue
    lock: NoRows | None = None


_OF_EVENTS = _Statements(
    sql.FIND_DUE_EMAIL_EVENTS,
    sql.READ_EMAIL_EVENTS,
    sql.REMOVE_EMAIL_EVENTS,
    sql.RESTORE_EMAIL_EVENTS,
)
_STATEMENTS: Mapping[str, _Statements] = MappingProxyType(
    {
        RecordKind.HISTORY: _Statements(
            sql.FIND_DUE_EMAIL_HISTORY,
            sql.READ_EMAIL_HISTORY,
            sql.REMOVE_EMAIL_HISTORY,
            sql.RESTORE_EMAIL_HISTORY,
        ),
        RecordKind.LOGS: _Statements(
            sql.FIND_DUE_SEND_LOGS, sql.READ_SEND_LOGS, sql.REMOVE_SEND_LOGS, sql.RESTORE_SEND_LOGS
        ),
        RecordKind.EVENTS: _OF_EVENTS,
        RecordKind.ENGAGEMENT: _OF_EVENTS,
        RecordKind.CONTENTS: _Statements(
            sql.FIND_DUE_EMAIL_CONTENTS,
            sql.READ_EMAIL_CONTENTS,
            sql.REMOVE_EMAIL_CONTENTS,
            sql.RESTORE_EMAIL_CONTENTS,
            sql.LOCK_EMAIL_CONTENTS,
        ),
        RecordKind.ATTACHMENTS: _Statements(
            sql.FIND_DUE_ATTACHMENTS,
            sql.READ_LEAVING_ATTACHMENTS,
            sql.REMOVE_ATTACHMENTS,
            sql.RESTORE_ATTACHMENTS,
        ),
    }
)


async def find_due(conn: Conn, kind: RecordKind, *, span: Period) -> list[DueMonth]:
    """Return the projects whose records of a month are old enough to be archived."""
    return await fetch.many(conn, _STATEMENTS[kind].find, {"kind": kind, **_times(span)}, DueMonth)


def reading(
    conn: Conn, kind: str, *, project_id: object, span: Period
) -> AbstractAsyncContextManager[Any]:
    """Return a stream of the records that may be archived, as JSON lines of one snapshot."""
    params = {"kind": kind, "project_id": project_id, **_times(span)}
    return texts(conn, _STATEMENTS[kind].read, params)


async def remove(conn: Conn, kind: str, records: Sequence[Record], *, span: Period) -> set[int]:
    """Delete records; return the positions, from 0, of those that existed.

    Call it in a transaction: it locks rows before it checks them.
    """
    statements, time = _STATEMENTS[kind], time_field(kind)
    keys = {
        "ids": [str(each.fields["id"]) for each in records],
        "times": [str(each.fields[time]) for each in records],
    }
    if kind == RecordKind.LOGS:  # its primary key begins with the email
        keys["emails"] = [str(each.fields["email_id"]) for each in records]
    if statements.lock is not None:
        await fetch.run(conn, statements.lock, keys)
    gone = await fetch.many(conn, statements.remove, keys | _times(span), int)
    return {place - 1 for place in gone}


async def elsewhere(conn: Conn, kind: str, records: Sequence[Record]) -> set[int]:
    """Return the positions, from 0, of records that are in use again: requeued mail, used
    bodies.
    """
    asked = {"kind": kind, "ids": [str(each.fields["id"]) for each in records]}
    return {place - 1 for place in await fetch.many(conn, sql.FIND_ELSEWHERE, asked, int)}


async def restore(conn: Conn, archive: Archive, records: Sequence[Record]) -> int:
    """Insert archived records; return how many were missing."""
    documents = [each.line.decode() for each in records]
    return await fetch.value(conn, _STATEMENTS[archive.kind].restore, {"documents": documents}, int)


def _times(span: Period) -> dict[str, object]:
    return {"since": span.since, "until": span.until}
