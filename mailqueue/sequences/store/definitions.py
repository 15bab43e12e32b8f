"""SQL of sequences and their versions."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.automation.sequences import (
    ContactSequence,
    MovedEnrollments,
    SequenceVersion,
    StepCounts,
)
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import sequences as sql


class _Moved(NamedTuple):
    moved: int | None
    remaining: int | None


async def list_(conn: Conn, project_id: UUID, *, name: str | None = None) -> list[ContactSequence]:
    """Return the sequences of a project by name, or the one with the name."""
    params = {"project_id": project_id, "name": name}
    return await fetch.many(conn, sql.LIST_SEQUENCES, params, ContactSequence)


async def versions(
    conn: Conn, project_id: UUID, name: str, *, version: int | None = None
) -> list[SequenceVersion]:
    """Return the versions of a sequence, newest first, or one."""
    params = {"project_id": project_id, "name": name, "version": version}
    return await fetch.many(conn, sql.LIST_SEQUENCE_VERSIONS, params, SequenceVersion)


async def put(
    conn: Conn,
    project_id: UUID,
    name: str,
    *,
    given: Mapping[str, Any],
    must_be_new: bool,
    by: str,
) -> UUID | None:
    """Add or change a sequence; return None where it must be new and exists, or the reverse.

    Raises:
        InvalidField: a field is invalid.
    """
    params = {
        "project_id": project_id,
        "name": name,
        "given": Jsonb(given),
        "must_be_new": must_be_new,
        "by": by,
    }
    with refusals(otherwise="sequence"):
        async with conn.transaction():
            return await fetch.maybe(conn, sql.PUT_SEQUENCE, params, UUID)


async def publish(conn: Conn, project_id: UUID, name: str, *, by: str) -> int | None:
    """Publish the draft; return the published version, None where there is no sequence or draft.

    Raises:
        InvalidField: a step cannot be done any more.
    """
    params = {"project_id": project_id, "name": name, "by": by}
    with refusals():
        async with conn.transaction():
            return await fetch.maybe(conn, sql.PUBLISH_SEQUENCE, params, int)


async def pause(conn: Conn, project_id: UUID, name: str, *, is_paused: bool, by: str) -> bool:
    """Pause or resume a sequence; return False where there is none."""
    params = {"project_id": project_id, "name": name, "is_paused": is_paused, "by": by}
    return await fetch.value(conn, sql.PAUSE_SEQUENCE, params, bool)


async def remove(conn: Conn, project_id: UUID, name: str, *, by: str) -> bool:
    """Remove a sequence; return False where there is none."""
    params = {"project_id": project_id, "name": name, "by": by}
    return await fetch.value(conn, sql.REMOVE_SEQUENCE, params, bool)


async def move(
    conn: Conn, project_id: UUID, name: str, *, from_version: int | None, limit: int, by: str
) -> MovedEnrollments | None:
    """Move enrollments to the published version; return None where there is no such sequence.

    Raises:
        InvalidField: no version is published, or there is no version to move from.
    """
    params = {
        "project_id": project_id,
        "name": name,
        "from_version": from_version,
        "limit": limit,
        "by": by,
    }
    with refusals():
        async with conn.transaction():
            found = await fetch.one(conn, sql.MOVE_ENROLLMENTS, params, _Moved)
    if found.moved is None or found.remaining is None:
        return None
    return MovedEnrollments(found.moved, found.remaining)


async def counts(
    conn: Conn, project_id: UUID, name: str, *, version: int, is_test: bool
) -> list[StepCounts]:
    """Return counts for each step of a version."""
    params = {"project_id": project_id, "name": name, "version": version, "is_test": is_test}
    return await fetch.many(conn, sql.COUNT_SEQUENCE_STEPS, params, StepCounts)
