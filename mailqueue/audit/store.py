"""SQL of the audit log and its seals; the only file of this folder that runs SQL."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from typing import NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.audit.model import AuditRow, AuditSearch, Seal
from mailqueue.contract.projects import AuditEvent
from mailqueue.db import stream
from mailqueue.db.fetch import Conn, many, maybe, one, run, value
from mailqueue.db.statements import audit as sql


class ChangedRow(NamedTuple):
    """A permitted change, the row after it, and the position of its newest seal."""

    change_id: int
    reason: str
    id: int
    fields: list[str | None]
    seal_position: int

    @property
    def row(self) -> AuditRow:
        return AuditRow(self.id, self.fields)


async def list_events(
    conn: Conn, search: AuditSearch, *, before: int | None, looked: int, limit: int
) -> list[AuditEvent]:
    """Return up to `limit` of the next `looked` rows that match, newest first."""
    params = asdict(search) | {"before": before, "looked": looked, "most": limit}
    return await many(conn, sql.LIST_AUDIT, params, AuditEvent)


async def looked_until(
    conn: Conn, search: AuditSearch, *, before: int | None, looked: int
) -> int | None:
    """Return the id of the last of the rows that `list_events` looks at; None if it is all."""
    params = asdict(search) | {"before": before, "looked": looked}
    return await maybe(conn, sql.AUDIT_LOOKED_UNTIL, params, int)


async def find_event(conn: Conn, event_id: int, *, project_id: UUID | None) -> AuditEvent | None:
    """Return a row of a project; `project_id` None: of all projects and the installation."""
    params = {"id": event_id, "project_id": project_id}
    return await maybe(conn, sql.FIND_AUDIT_EVENT, params, AuditEvent)


async def find_sealed(conn: Conn, event_id: int) -> str | None:
    """Return a row with its newest seal, as JSON."""
    return await maybe(conn, sql.FIND_SEALED_ROW, {"id": event_id}, str)


async def find_last(conn: Conn) -> Seal | None:
    """Return the newest seal; None if there is none."""
    return await maybe(conn, sql.FIND_LAST_SEAL, None, Seal)


async def find(conn: Conn, position: int) -> Seal:
    """Return the seal at a position."""
    return await one(conn, sql.FIND_SEAL, {"position": position}, Seal)


async def find_newest_row(conn: Conn) -> int | None:
    """Return the id of the newest committed row; None if there is none."""
    return await maybe(conn, sql.FIND_NEWEST_AUDIT_ROW, None, int)


async def has_writers(conn: Conn) -> bool:
    """Return whether other transactions may have added rows that are not committed yet."""
    return await value(conn, sql.HAS_AUDIT_WRITERS, None, bool)


async def list_rows(conn: Conn, *, after: int, until: int, limit: int) -> list[AuditRow]:
    """Return up to `limit` rows without a seal, in the order of ids."""
    params = {"after": after, "until": until, "limit": limit}
    return await many(conn, sql.LIST_ROWS_TO_SEAL, params, AuditRow)


async def list_changes(conn: Conn, *, after: int, limit: int) -> list[ChangedRow]:
    """Return up to `limit` permitted changes of sealed rows."""
    return await many(conn, sql.LIST_AUDIT_CHANGES, {"after": after, "limit": limit}, ChangedRow)


async def forget_changes(conn: Conn, ids: Sequence[int]) -> None:
    """Delete changes that are sealed."""
    await run(conn, sql.FORGET_AUDIT_CHANGES, {"ids": list(ids)})


async def add(conn: Conn, seals: Sequence[Seal]) -> None:
    """Insert seals."""
    rows = [
        {
            "position": seal.position,
            "kind": seal.kind,
            "event_id": seal.event_id,
            "settled_id": seal.settled_id,
            "sealed_at": seal.sealed_at,
            "key_id": str(seal.key_id),
            "reason": seal.reason,
            "row_code": seal.row_code.hex(),
            "skeleton": None if seal.skeleton is None else seal.skeleton.hex(),
            "addresses": None if seal.addresses is None else seal.addresses.hex(),
            "code": seal.code.hex(),
        }
        for seal in seals
    ]
    await run(conn, sql.ADD_AUDIT_SEALS, {"seals": Jsonb(rows)})


async def find_cut(conn: Conn, *, limit: int) -> int | None:
    """Return the position up to which rows are past their retention; None if there is none."""
    return await maybe(conn, sql.FIND_AUDIT_CUT, {"limit": limit}, int)


async def cut(conn: Conn, seal: Seal, *, by: str) -> int:
    """Replace seals up to a position by this one, delete their rows, and record that.

    Return the number of rows.
    """
    params = {
        "position": seal.position,
        "settled_id": seal.settled_id,
        "sealed_at": seal.sealed_at,
        "key_id": seal.key_id,
        "row_code": seal.row_code,
        "code": seal.code,
    }
    rows = await value(conn, sql.CUT_AUDIT, params, int)
    await run(conn, sql.RECORD_AUDIT_CUT, {"by": by, "rows": rows, "seal": seal.head})
    return rows


async def utc_now(conn: Conn) -> str:
    """Return the time of the database in UTC, with microseconds."""
    return await value(conn, sql.UTC_NOW, None, str)


async def may_read_seals(conn: Conn) -> bool:
    """Return whether this login may read the tables of the log and its seals."""
    return await value(conn, sql.MAY_READ_AUDIT_SEALS, None, bool)


async def may_verify(conn: Conn) -> bool:
    """Return whether this login may read everything that is verified."""
    return await value(conn, sql.MAY_VERIFY_AUDIT, None, bool)


def seals_and_rows(
    conn: Conn, *, until: int | None = None
) -> AbstractAsyncContextManager[AsyncIterator[str]]:
    """Return a stream of seals with their rows, as JSON, and of rows without a seal."""
    return stream.texts(conn, sql.LIST_SEALS_AND_ROWS, {"until": until})
