"""Files of exports are deleted seven days after their end."""

import pytest

from mailqueue.analytics.exports import requests
from mailqueue.maintenance import retention
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps

pytestmark = pytest.mark.anyio


async def test_exports_are_deleted_with_their_files_after_seven_days(
    desk: MaintenanceContext, database: DatabaseSettings
) -> None:
    conn = desk.conn
    project = await make.project_named(conn)
    await make.queued_email(conn)
    ids = [(await steps.begun(conn, project)).id for _ in range(3)]
    await steps.worked(database)
    unfinished = await steps.begun(conn, project)
    aged = "UPDATE mailqueue.exports SET finished_at = now() - %s::interval WHERE id = %s"
    await conn.execute(aged, ("7 days 1 min", ids[0]))
    await conn.execute(aged, ("6 days", ids[1]))
    report = await retention.run(desk)

    assert report.counts["exports"] == 1
    left = [one.id for one in await requests.page(conn, project, limit=10)]
    assert left == [unfinished.id, ids[2], ids[1]]
    parts = await make.rows(conn, "SELECT export_id FROM mailqueue.export_parts ORDER BY 1")
    assert [row[0] for row in parts] == ids[1:]
