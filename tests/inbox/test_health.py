"""`mailqueue doctor` warns about events that failed in the last day."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox import events
from tests.inbox.events import consume, rule

pytestmark = pytest.mark.anyio

CHECK = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'inbox'"


async def test_failed_events_are_a_warning_with_the_newest_reason(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, template="missing")
    await consume(conn, type_="Fine")
    [before] = await make.rows(conn, CHECK)
    for _ in range(2):
        await consume(conn)

    [(state, found, fix)] = await make.rows(conn, CHECK)

    assert before == ("ok", "no event of another service failed in the last day", None)
    assert state == "warning"
    assert found.startswith("failed in the last day: 2 events of default, the last at ")
    assert 'rule placed: template: there is no template "missing"' in found
    assert "mailqueue event inbox --status failed --project default" in fix
    await conn.execute("UPDATE mailqueue.inbox_state SET received = now() - interval '25 h'")
    assert await make.rows(conn, CHECK) == [before]
