"""Files of a project are destroyed when a person of it is erased."""

import asyncio
import json
from uuid import UUID

import pytest

from mailqueue.analytics.exports import handler, requests, store
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.privacy import erasing, persons
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps

pytestmark = pytest.mark.anyio
ANN = "ann@example.com"


async def test_a_file_that_may_contain_an_erased_person_is_destroyed(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project, other = await make.project_named(conn), await make.project(conn, "other")
        exports = {}
        for each in (project, other):
            await make.queued_email(conn, project_id=each, recipient_email=ANN)
            exports[each] = await steps.begun(conn, each)
            await steps.worked(database)
        await _erase(conn, project)

        gone = await requests.find(conn, project, exports[project].id)
        assert (gone.state, await _parts(conn, gone.id)) == ("erased", 0)
        with pytest.raises(Conflict, match="erased"):
            await steps.file_of(conn, project, gone.id)
        assert ANN in await steps.file_of(conn, other, exports[other].id)


async def test_an_unfinished_export_begins_again_without_the_person(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "MAX_PAGES", 1)
    async with connect(database) as conn:
        project = await make.project_named(conn)
        for address in (ANN, "bob@example.com", "eve@example.com"):
            await make.queued_email(conn, project_id=project, recipient_email=address)
        export = await steps.begun(conn, project)
        await steps.worked(database)
        assert (await requests.find(conn, project, export.id)).rows == 2
        await _erase(conn, project)
        assert (await requests.find(conn, project, export.id)).rows == 0
        await steps.worked(database)
        await steps.worked(database)

        text = await steps.file_of(conn, project, export.id)
        rows = [json.loads(line)["recipient_email"] for line in text.splitlines()]
        assert rows == ["erased@erased.invalid", "bob@example.com", "eve@example.com"]


async def test_what_is_written_while_a_person_is_erased_is_destroyed_at_the_end(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await make.queued_email(conn, project_id=project, recipient_email=ANN)
        erasure = await erasing.begin(
            persons.lending(conn), project, persons.spellings_of(ANN), by="tests"
        )
        export = await steps.begun(conn, project)
        await steps.worked(database)
        assert ANN in await steps.file_of(conn, project, export.id)
        await erasing.go_on(persons.lending(conn), erasure, by="tests")

        assert (await requests.find(conn, project, export.id)).state == "erased"
        assert await _parts(conn, export.id) == 0


async def _erase(conn: Conn, project: UUID) -> None:
    lend = persons.lending(conn)
    erasure = await erasing.begin(lend, project, persons.spellings_of(ANN), by="tests")
    assert (await erasing.go_on(lend, erasure, by="tests")).is_done


async def _parts(conn: Conn, export_id: object) -> object:
    query = "SELECT count(*) FROM mailqueue.export_parts WHERE export_id = %s"
    return await make.scalar(conn, query, export_id)


async def test_an_erasure_waits_for_the_part_that_is_being_written_and_destroys_it(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, connect(database) as worker:
        project = await make.project_named(conn)
        await make.queued_email(conn, project_id=project, recipient_email=ANN)
        export = await steps.begun(conn, project)
        await conn.execute("UPDATE mailqueue.exports SET status = 'assigned', claim_no = 1")
        pid = conn.info.backend_pid
        async with worker.transaction():
            page = await store.read_page(worker, export.id, claim_no=1, limit=10, max_bytes=100)
            assert ANN in page.lines[0]
            beginning = asyncio.create_task(
                erasing.begin(persons.lending(conn), project, persons.spellings_of(ANN), by="tests")
            )
            while not await make.scalar(
                worker, "SELECT cardinality(pg_blocking_pids(%s)) > 0", pid
            ):
                assert not beginning.done()
            await store.write_part(worker, export.id, place=None, rows=1, size=1, data=b"x")
        await beginning

        assert await _parts(conn, export.id) == 0
        assert (await requests.find(conn, project, export.id)).rows == 0
