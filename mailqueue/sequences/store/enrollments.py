"""SQL of enrollments: what workers do, and what callers ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.automation.sequences import (
    DoneStep,
    Enrolled,
    Enrollment,
    EnrollmentDetail,
)
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import sequences as sql

UPKEEP_ROWS = 1_000
"""Enrollments that one statement of the upkeep changes."""


@dataclass(frozen=True, slots=True)
class Advanced:
    """What becomes of the row of an enrollment."""

    id: UUID
    outcome: str
    run_at: datetime | None
    reason: str | None


async def advance(conn: Conn, ids: Sequence[UUID]) -> list[Advanced]:
    """Do what is due of claimed enrollments; return what becomes of those that are there."""
    return await fetch.many(conn, sql.ADVANCE_ENROLLMENTS, {"ids": arrays.uuids(ids)}, Advanced)


async def take_signals(conn: Conn) -> int:
    """Make enrollments due that something happened to; return how many."""
    return await fetch.value(conn, sql.TAKE_ENROLLMENT_SIGNALS, {"limit": UPKEEP_ROWS}, int)


async def release(conn: Conn) -> int:
    """Release enrollments of sequences that are no longer paused; return how many."""
    return await fetch.value(conn, sql.RELEASE_ENROLLMENTS, {"limit": UPKEEP_ROWS}, int)


async def renew_zones(conn: Conn) -> int:
    """Compute enrollments anew by the present zone rules; return how many."""
    return await fetch.value(conn, sql.RENEW_ENROLLMENT_ZONES, {"limit": UPKEEP_ROWS}, int)


async def enroll(
    conn: Conn,
    project_id: UUID,
    *,
    sequence: str,
    email: str,
    variables: Mapping[str, Any],
    is_test: bool,
    source: str,
) -> Enrolled:
    """Enroll the contact of an address, in the caller's transaction.

    Raises:
        InvalidField: a field is invalid.
    """
    params = {
        "project_id": project_id,
        "sequence": sequence,
        "email": email,
        "variables": Jsonb(variables),
        "is_test": is_test,
        "source": source,
    }
    with refusals():
        async with conn.transaction():
            return await fetch.one(conn, sql.ENROLL_ADDRESS, params, Enrolled)


async def end(conn: Conn, ids: Sequence[UUID], *, reason: str, by: str) -> list[UUID]:
    """End enrollments; return the ids of those that had not ended before."""
    params = {"ids": arrays.uuids(ids), "reason": reason, "by": by}
    return list(await fetch.value(conn, sql.END_ENROLLMENTS, params, list))


async def page(
    conn: Conn,
    project_id: UUID,
    *,
    sequence: str | None,
    email: str | None,
    state: str | None,
    before: UUID | None,
    limit: int,
) -> list[Enrollment]:
    """Return enrollments of a project, newest first.

    Raises:
        InvalidField: `email` is no address.
    """
    params = {
        "project_id": project_id,
        "sequence": sequence,
        "email": email,
        "state": state,
        "before": before,
        "limit": limit,
    }
    with refusals():
        return await fetch.many(conn, sql.LIST_ENROLLMENTS, params, Enrollment)


async def find(conn: Conn, project_id: UUID | None, enrollment_id: UUID) -> EnrollmentDetail | None:
    """Return an enrollment with what it did, or None; of any project for None."""
    params = {"project_id": project_id, "id": enrollment_id}
    found = await fetch.maybe(conn, sql.FIND_ENROLLMENT, params, EnrollmentDetail)
    if found is None:
        return None
    steps = await fetch.many(conn, sql.LIST_ENROLLMENT_STEPS, {"id": enrollment_id}, DoneStep)
    return replace(found, steps=steps)
