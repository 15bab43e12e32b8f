"""Runs of test schedules read the lists and contacts of test keys, live runs the live ones."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people
from tests.schedules import turning

pytestmark = pytest.mark.anyio
LATER = (datetime.now(UTC) + timedelta(days=2)).replace(tzinfo=None).isoformat()
WORDS = {"subject": "Hello", "text_body": "Hello"}


@pytest.mark.parametrize("is_test", [False, True])
async def test_a_run_takes_lists_and_zones_of_its_mode(conn: Conn, *, is_test: bool) -> None:
    project = await make.project_named(conn)
    zones = {is_test: "Asia/Tokyo", not is_test: "Europe/Paris"}
    for mode, zone in zones.items():
        await people.added(conn, project, "ann@example.com", is_test=mode, time_zone=zone)
    members = await people.added(conn, project, "live@example.com", "both@example.com")
    await people.list_of(conn, project, members=members)
    asked: dict[str, Any] = {"schedule_type": "local", "run_at": LATER, "is_test": is_test}
    if is_test:
        with pytest.raises(errors.InvalidParameterValue, match="no list of that name"):
            async with conn.transaction():
                await turning.put(conn, payload={"to": ["news"]} | WORDS, **asked)
        async with conn.transaction():
            await conn.execute("SET LOCAL mailqueue.mode = 'test'")
            members = await people.added(conn, project, "tried@example.com", is_test=True)
            await conn.execute("SET LOCAL mailqueue.mode = 'test'")
            await people.list_of(conn, project, members=members)
            await conn.execute("SET LOCAL mailqueue.mode = ''")
    made = await turning.put(conn, payload={"to": ["ann@example.com", "news"]} | WORDS, **asked)
    await turning.due(conn, made)
    await turning.turn(conn)

    await turning.make_runs(conn)

    query = "SELECT email_key, time_zone FROM mailqueue.schedule_recipients"
    found = dict(await make.rows(conn, query))
    assert found.pop("ann@example.com") == "Asia/Tokyo"
    wanted = {"tried@example.com"} if is_test else {"live@example.com", "both@example.com"}
    assert set(found) == wanted
    query = "SELECT DISTINCT is_test FROM mailqueue.email_queue"
    assert await make.rows(conn, query) == [(is_test,)]
