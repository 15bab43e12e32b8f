"""A cancelled import takes no line more; what it took stays, and its file is gone."""

from typing import Any

import pytest

from mailqueue.contract.background import ImportKind
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.imports import handler, requests
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.imports import steps

pytestmark = pytest.mark.anyio

PARTS = "SELECT count(*) FROM mailqueue.import_parts"


@pytest.mark.parametrize("kind", ImportKind)
async def test_lines_that_were_taken_stay_and_no_other_is_taken(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch, kind: ImportKind
) -> None:
    monkeypatch.setattr(handler, "MAX_COMMITS", 1)
    async with connect(database) as conn:
        project = await make.project_named(conn)
        options: dict[str, Any] = {"reason": "manual"} if kind is ImportKind.SUPPRESSIONS else {}
        begun = await steps.begun(conn, project, steps.csv_of(5), kind=kind, **options)
        await steps.worked(database)
        cancelled = await requests.cancel(conn, project, kind, begun.id, by="ann")
        parts = await make.scalar(conn, PARTS)
        assert await steps.worked(database) == 1
        ended = await steps.found(conn, project, begun.id)
        audited = await make.rows(
            conn,
            "SELECT action, actor LIKE '%%ann%%', detail #>> '{taken,added}'"
            " FROM mailqueue.audit_events WHERE action ~ '^import[.]' ORDER BY id",
        )

    assert (cancelled.state, cancelled.lines_read, cancelled.taken) == (
        "cancelled",
        2,
        {"added": 2},
    )
    assert parts == 0
    assert (ended.state, ended.taken, ended.error) == ("cancelled", {"added": 2}, None)
    assert ended.finished_at is not None
    assert [row[0] for row in audited] == ["import.begun", "import.cancelled", "import.ended"]
    assert audited[1][1:] == (True, "2")


async def test_lines_that_a_worker_has_read_already_are_not_taken(conn: Conn) -> None:
    project = await make.project_named(conn)
    begun = await steps.begun(conn, project, steps.csv_of(2))
    await conn.execute(
        "UPDATE mailqueue.imports SET status = 'assigned', claim_no = 7, lease_until = now()"
    )
    await requests.cancel(conn, project, None, begun.id, by="tests")
    take = (
        "SELECT mailqueue.take_import_lines(%s, 7, 1,"
        ' \'[{"line": 2, "fields": {"email": "ann@example.com"}}]\', \'[]\')'
    )

    assert await make.scalar(conn, take, begun.id) == "cancelled"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.contacts") == 0


async def test_an_import_that_has_ended_is_not_cancelled_and_its_state_is_named(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        done = await steps.begun(conn, project, steps.csv_of(1))
        await steps.worked(database)
        other = await steps.begun(conn, project, steps.csv_of(1))
        await requests.cancel(conn, project, None, other.id, by="tests")
        for one, state in ((done, "done"), (other, "cancelled")):
            with pytest.raises(Conflict, match=state):
                await requests.cancel(conn, project, None, one.id, by="tests")
        assert (await steps.found(conn, project, done.id)).state == "done"


async def test_an_import_of_another_project_or_kind_is_not_there(conn: Conn) -> None:
    project, other = await make.project_named(conn), await make.project(conn, "other")
    begun = await steps.begun(conn, project, steps.csv_of(1))
    for owner, kind in ((other, None), (project, ImportKind.SUPPRESSIONS)):
        with pytest.raises(NotFound):
            await requests.cancel(conn, owner, kind, begun.id, by="tests")

    assert (await steps.found(conn, project, begun.id)).state == "waiting"


async def test_a_cancelled_import_makes_room_for_another_before_a_worker_has_seen_it(
    conn: Conn,
) -> None:
    project = await make.project_named(conn)
    for _ in range(requests.MAX_UNFINISHED):
        begun = await steps.begun(conn, project, "email\n")
    await requests.cancel(conn, project, None, begun.id, by="tests")

    assert (await steps.begun(conn, project, "email\n")).state == "waiting"
