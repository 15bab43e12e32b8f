"""Pages of analytics are read from the replica."""

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.analytics.replicas import beside, sessions
from tests.console.visiting import visiting

pytestmark = pytest.mark.anyio


async def test_every_page_of_analytics_is_read_over_one_connection_to_the_replica(
    database: DatabaseSettings,
) -> None:
    async with visiting(beside(database)) as console, console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        async with connect(database) as conn:
            before = await sessions(conn)
            for page in ("", "/templates", "/providers", "/hours"):
                answer = await visitor.get(f"/console/projects/default/analytics{page}")
                assert answer.status_code == 200, page
            after = await sessions(conn)

    assert (before, after) == (0, 1)
