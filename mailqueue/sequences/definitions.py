"""Sequences: list, add, change, publish, pause, remove, count."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from mailqueue.contract.automation.sequences import (
    ContactSequence,
    MovedEnrollments,
    SequenceCounts,
    SequenceVersion,
)
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.sequences.store import definitions as store

MOVED_TOGETHER = 10_000
"""Enrollments that one request moves to another version, in one transaction."""


async def list_(conn: Conn, project_id: UUID) -> list[ContactSequence]:
    """Return the sequences of a project by name."""
    return await store.list_(conn, project_id)


async def get(conn: Conn, project_id: UUID, name: str) -> ContactSequence:
    """Return one sequence.

    Raises:
        NotFound: there is no sequence of that name.
    """
    found = await store.list_(conn, project_id, name=name)
    if not found:
        raise NotFound("sequence", name[:100])
    return found[0]


async def versions(conn: Conn, project_id: UUID, name: str) -> list[SequenceVersion]:
    """Return the versions of a sequence, newest first.

    Raises:
        NotFound: there is no sequence of that name.
    """
    await get(conn, project_id, name)
    return await store.versions(conn, project_id, name)


async def add(
    conn: Conn, project_id: UUID, name: str, *, given: Mapping[str, Any], by: str
) -> ContactSequence:
    """Add a sequence with its first draft.

    Raises:
        Conflict: there is a sequence of that name.
        InvalidField: a field is invalid.
    """
    if await store.put(conn, project_id, name, given=given, must_be_new=True, by=by) is None:
        raise Conflict(f"sequence {name} already exists in this project")
    return await get(conn, project_id, name)


async def change(
    conn: Conn, project_id: UUID, name: str, *, given: Mapping[str, Any], by: str
) -> ContactSequence:
    """Change settings of a sequence, or its draft.

    Raises:
        NotFound: there is no sequence of that name.
        InvalidField: a field is invalid.
    """
    if await store.put(conn, project_id, name, given=given, must_be_new=False, by=by) is None:
        raise NotFound("sequence", name[:100])
    return await get(conn, project_id, name)


async def publish(conn: Conn, project_id: UUID, name: str, *, by: str) -> ContactSequence:
    """Publish the draft of a sequence; without a draft nothing changes.

    Raises:
        NotFound: there is no sequence of that name.
        InvalidField: a step cannot be done any more.
    """
    await store.publish(conn, project_id, name, by=by)
    return await get(conn, project_id, name)


async def pause(
    conn: Conn, project_id: UUID, name: str, *, is_paused: bool, by: str
) -> ContactSequence:
    """Pause a sequence or resume it.

    Raises:
        NotFound: there is no sequence of that name.
    """
    await store.pause(conn, project_id, name, is_paused=is_paused, by=by)
    return await get(conn, project_id, name)


async def remove(conn: Conn, project_id: UUID, name: str, *, by: str) -> None:
    """Remove a sequence; its enrollments end.

    Raises:
        NotFound: there is no sequence of that name.
    """
    if not await store.remove(conn, project_id, name, by=by):
        raise NotFound("sequence", name[:100])


async def move(
    conn: Conn, project_id: UUID, name: str, *, from_version: int | None, by: str
) -> MovedEnrollments:
    """Move enrollments of one version, or of all for None, to the published version.

    Raises:
        NotFound: there is no sequence of that name.
        InvalidField: no version is published, or there is no version to move from.
    """
    found = await store.move(
        conn, project_id, name, from_version=from_version, limit=MOVED_TOGETHER, by=by
    )
    if found is None:
        raise NotFound("sequence", name[:100])
    return found


async def counts(
    conn: Conn, project_id: UUID, name: str, *, version: int | None, is_test: bool
) -> SequenceCounts:
    """Return counts for each step of a version; None is the published one, else the draft.

    Raises:
        NotFound: there is no sequence of that name, or no such version.
    """
    one = await get(conn, project_id, name)
    number = version or one.published_version or one.draft_version or 1
    steps = await store.counts(conn, project_id, name, version=number, is_test=is_test)
    if not steps:
        raise NotFound("version", f"{number} of sequence {name[:100]}")
    return SequenceCounts(name, number, steps)
