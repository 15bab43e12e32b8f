"""Create, find, decide and cancel A/B tests, and send them to recipients."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.analytics.ab_tests import store
from mailqueue.contract.automation.ab_tests import AbTest, AbTestRecipient, AbTestSummary
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn


async def create(conn: Conn, project: str, wanted: Mapping[str, Any], *, by: str) -> AbTest:
    """Create a test, in the caller's transaction.

    Raises:
        InvalidField: a field is refused.
        Conflict: the project has too many tests that are not finished.
    """
    return await find(conn, None, await store.create(conn, project, wanted, by=by))


async def add(
    conn: Conn, project: str, test_id: UUID, recipients: Sequence[Mapping[str, Any]]
) -> list[AbTestRecipient]:
    """Send a test to recipients; return what became of each, in order.

    Raises:
        InvalidField: there is no such test, or the list is empty or too long.
        Conflict: the test takes no more recipients.
    """
    return await store.add(conn, project, test_id, recipients)


async def find(conn: Conn, project_id: UUID | None, test_id: UUID) -> AbTest:
    """Return a test of a project with its variants and their counts; None: of any.

    Raises:
        NotFound: there is no such test.
    """
    found = await store.find(conn, project_id, test_id)
    if found is None:
        raise NotFound("A/B test", test_id)
    return found


async def page(
    conn: Conn, project_id: UUID | None, *, before: UUID | None = None, limit: int
) -> list[AbTestSummary]:
    """Return tests of a project, newest first; None: of all projects."""
    return await store.page(conn, project_id, before=before, limit=limit)


async def decide(conn: Conn, project_id: UUID, test_id: UUID, *, variant: str, by: str) -> AbTest:
    """Make a variant the winner before the evaluation; the others get it.

    Raises:
        NotFound: there is no such test.
        InvalidField: the test has no such variant.
        Conflict: it is decided, cancelled or over.
    """
    found = await find(conn, project_id, test_id)
    if not await store.decide(conn, project_id, test_id, variant=variant, by=by):
        raise Conflict(f"A/B test {test_id} is decided or over: {found.state}")
    return await find(conn, project_id, test_id)


async def cancel(conn: Conn, project_id: UUID, test_id: UUID, *, by: str) -> AbTest:
    """Cancel a test: recipients that wait get no email.

    Raises:
        NotFound: there is no such test.
        Conflict: it is over, or cancelled already.
    """
    found = await find(conn, project_id, test_id)
    if not await store.cancel(conn, project_id, test_id, by=by):
        raise Conflict(f"A/B test {test_id} is over: {found.state}")
    return await find(conn, project_id, test_id)
