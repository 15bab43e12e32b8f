"""Enrollments: enroll a contact, list, show, end."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.contract.automation.sequences import Enrolled, Enrollment, EnrollmentDetail
from mailqueue.contract.page import Page
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn
from mailqueue.sequences.store import enrollments as store

_ENDED = frozenset({"completed", "left", "failed"})


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
    """Enroll the contact of an address, which is added if there is none.

    Raises:
        InvalidField: a field is invalid.
    """
    return await store.enroll(
        conn,
        project_id,
        sequence=sequence,
        email=email,
        variables=variables,
        is_test=is_test,
        source=source,
    )


async def list_page(
    conn: Conn,
    project_id: UUID,
    *,
    sequence: str | None,
    email: str | None,
    state: str | None,
    before: UUID | None,
    limit: int,
) -> Page[Enrollment]:
    """Return a page of enrollments, newest first; `before` is the id of the last one shown."""
    found = await store.page(
        conn,
        project_id,
        sequence=sequence,
        email=email,
        state=state,
        before=before,
        limit=limit + 1,
    )
    shown = found[:limit]
    return Page(shown, cursor_of(shown[-1].id) if len(found) > limit else None)


async def get(conn: Conn, project_id: UUID | None, enrollment_id: UUID) -> EnrollmentDetail:
    """Return an enrollment with what it did; of any project for None.

    Raises:
        NotFound: there is no such enrollment.
    """
    found = await store.find(conn, project_id, enrollment_id)
    if found is None:
        raise NotFound("enrollment", enrollment_id)
    return found


async def end(
    conn: Conn, project_id: UUID | None, enrollment_id: UUID, *, by: str
) -> EnrollmentDetail:
    """End an enrollment: no further step is done.

    Raises:
        NotFound: there is no such enrollment.
        Conflict: it has ended before.
    """
    found = await get(conn, project_id, enrollment_id)
    if found.state in _ENDED:
        raise Conflict(f"enrollment {enrollment_id} has ended: {found.state}")
    await store.end(conn, [enrollment_id], reason="removed", by=by)
    return await get(conn, project_id, enrollment_id)


async def end_all(conn: Conn, ids: Sequence[UUID], *, by: str) -> None:
    """End enrollments; those that have ended stay as they are."""
    if ids:
        await store.end(conn, ids, reason="removed", by=by)
