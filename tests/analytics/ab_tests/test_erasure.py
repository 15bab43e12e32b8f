"""A person who is erased is no longer among those who wait for a decision."""

from uuid import UUID

import pytest

from mailqueue.analytics.ab_tests import requests
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.privacy import erasing, persons
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.ab_tests import steps

pytestmark = pytest.mark.anyio


async def _erase(conn: Conn, project: UUID, email: str) -> None:
    lend = persons.lending(conn)
    erasure = await erasing.begin(lend, project, persons.spellings_of(email), by="tests")
    assert (await erasing.go_on(lend, erasure, by="tests")).is_done


async def test_an_erased_person_that_waits_gets_no_email_of_the_winner(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        test = await steps.created(conn, sample_percent=50)
        rows = await steps.sent_to(conn, test.id, 30)
        waiting = [one.index for one in rows if one.status == "waiting"]
        await _erase(conn, project, f"person{waiting[0]}@example.com")
        assert (await requests.find(conn, project, test.id)).waiting == len(waiting) - 1
        await requests.decide(conn, project, test.id, variant="A", by="ann")
        await steps.worked(database)

        found = await requests.find(conn, project, test.id)
        assert (found.state, found.waiting) == ("completed", 0)
        query = "SELECT count(*) FROM mailqueue.email_queue WHERE recipient_email = ANY (%s)"
        gone = [f"person{waiting[0]}@example.com", "erased@erased.invalid"]
        assert await make.scalar(conn, query, gone) == 0
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 29
