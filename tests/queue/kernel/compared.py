"""A few rows of the queue that evaluates A/B tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.analytics.ab_tests import requests
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from tests import make
from tests.analytics.ab_tests import steps
from tests.queue.kernel.rows import DONE, Rows, ids_of

PEOPLE = 12
"""Recipients of each test."""


@asynccontextmanager
async def ab_tests(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create tests of projects of their own that are due, each of which sends each person one."""
    tests = []
    for number in range(count):
        project = f"shop-{number}"
        await make.project(conn, project)
        test = await steps.created(conn, project, sample_percent=50)
        await steps.sent_to(conn, test.id, PEOPLE, project=project)
        await steps.time_over(conn, test.id)
        tests.append(test.id)

    async def check(_doubtful: int) -> None:
        for test_id in tests:
            found = await requests.find(conn, None, test_id)
            assert (found.result, found.waiting) == ("too_few", 0)
            emails = await make.scalar(
                conn,
                "SELECT count(*) FROM mailqueue.email_queue AS q"
                " JOIN mailqueue.projects AS p ON p.id = q.project_id WHERE p.name = %s",
                found.project,
            )
            assert emails == PEOPLE

    spec = queue_named("ab-tests")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)
