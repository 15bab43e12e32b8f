"""Exports go on where they ended, within bounds, and end when they are deleted."""

import json
import threading
import tracemalloc
import zlib
from functools import partial
from uuid import UUID

import pytest

from mailqueue.analytics.exports import handler, requests, writing
from mailqueue.contract.exports import ExportFormat, ExportKind
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.privacy.collecting import collect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps

pytestmark = pytest.mark.anyio
MANY = 50_000


async def suppressed(conn: Conn, project: UUID, count: int) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason, source)"
        " SELECT %s, format('person%%s@example.com', n), 'manual', 'tests'"
        " FROM generate_series(1, %s) AS n",
        (project, count),
    )


async def test_an_export_goes_on_after_its_last_part(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "MAX_PAGES", 1)
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, 5)
        export = await steps.begun(conn, project, "suppressions")
        seen = []
        for _ in range(3):
            await steps.worked(database)
            found = await requests.find(conn, project, export.id)
            seen.append((found.state, found.rows))

        assert seen == [("running", 2), ("running", 4), ("done", 5)]
        text = await steps.file_of(conn, project, export.id)
        emails = [json.loads(line)["email"] for line in text.splitlines()]
        assert emails == [f"person{n}@example.com" for n in range(1, 6)]


async def test_an_export_that_is_written_and_not_settled_is_not_written_again(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, 3)
        export = await steps.begun(conn, project, "suppressions")
        await steps.worked(database)
        await conn.execute(
            "UPDATE mailqueue.exports SET status = 'pending', finished_at = NULL, run_at = now()"
        )
        await steps.worked(database)

        found = await requests.find(conn, project, export.id)
        assert (found.state, found.rows) == ("done", 3)


async def test_a_worker_whose_claim_is_lost_writes_nothing(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, 3)
        export = await steps.begun(conn, project, "suppressions")
        late = handler.ClaimedExport(export.id, 7, project)
        handling = handler.ExportHandler(database, partial(collect, database))
        try:
            await handling.handle(late)
        finally:
            await handling.close()

        assert (await requests.find(conn, project, export.id)).rows == 0
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.export_parts") == 0


async def test_rows_are_held_for_one_part_at_a_time(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    real = writing.part_of

    def counted(lines: list[str], kind: ExportKind, form: ExportFormat) -> bytes:
        sizes.append(len(lines))
        return real(lines, kind, form)

    monkeypatch.setattr(writing, "part_of", counted)
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, MANY)
        export = await steps.begun(conn, project, "suppressions", "csv")
        tracemalloc.start()
        await steps.worked(database, page_rows=handler.PAGE_ROWS)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

        found = await requests.find(conn, project, export.id)
        assert (found.state, found.rows) == ("done", MANY)
        assert max(sizes) == handler.PAGE_ROWS
        assert peak < found.bytes, "less than the file"


async def test_parts_are_decompressed_beside_the_event_loop(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = list[int]()
    real = zlib.decompress

    def counted(data: bytes) -> bytes:
        threads.append(threading.get_ident())
        return real(data)

    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, 3)
        export = await steps.begun(conn, project, "suppressions")
        await steps.worked(database)
        monkeypatch.setattr(zlib, "decompress", counted)
        await steps.file_of(conn, project, export.id)

    assert threads
    assert threading.get_ident() not in threads


async def test_deleting_an_export_deletes_its_file_and_ends_an_unfinished_one(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "MAX_PAGES", 1)
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, 3)
        export = await steps.begun(conn, project, "suppressions")
        await steps.worked(database)
        assert (await requests.delete(conn, project, export.id, by="ann")).state == "deleted"
        await steps.worked(database)

        query = (
            "SELECT status, (SELECT count(*) FROM mailqueue.export_parts) FROM mailqueue.exports"
        )
        assert await make.rows(conn, query) == [("deleted", 0)]
        with pytest.raises(Conflict, match="deleted"):
            await steps.file_of(conn, project, export.id)
        with pytest.raises(Conflict, match="is gone"):
            await requests.delete(conn, project, export.id, by="ann")
        assert await _actions(conn) == ["export.begun", "export.deleted", "export.ended"]


async def test_what_is_fetched_is_audited(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await steps.written(database, conn, project)

        assert await _actions(conn) == ["export.begun", "export.ended", "export.fetched"]


async def test_a_project_has_five_unfinished_exports_of_each_mode(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        for _ in range(requests.MAX_UNFINISHED):
            await steps.begun(conn, project)
        with pytest.raises(Conflict, match="5 exports that are not finished"):
            await steps.begun(conn, project)

        assert (await steps.begun(conn, project, is_test=True)).state == "waiting"
        other = await make.project(conn, "other")
        assert (await steps.begun(conn, other)).state == "waiting"


async def test_the_files_of_a_project_have_a_bound_together(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, 3)
        first = await steps.begun(conn, project, "suppressions")
        monkeypatch.setattr(handler, "MAX_STORED_BYTES", 1)
        monkeypatch.setattr(requests, "MAX_STORED_BYTES", 1)
        await steps.worked(database)

        found = await requests.find(conn, project, first.id)
        assert (found.state, found.rows, found.error) == ("failed", 2, handler.FULL)
        with pytest.raises(Conflict, match="delete one"):
            await steps.begun(conn, project)
        await requests.delete(conn, project, first.id, by="ann")
        assert (await steps.begun(conn, project)).state == "waiting"


async def test_a_failed_export_goes_on_where_it_ended_once_it_is_requeued(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, 5)
        export = await steps.begun(conn, project, "suppressions")
        with monkeypatch.context() as bounded:
            bounded.setattr(handler, "MAX_STORED_BYTES", 1)
            await steps.worked(database)
        assert (await requests.find(conn, project, export.id)).state == "failed"
        ids = [export.id]
        await make.rows(conn, "SELECT mailqueue.requeue_exports(%s, %s, 'ann')", project, ids)
        await steps.worked(database)

        text = await steps.file_of(conn, project, export.id)
        emails = [json.loads(line)["email"] for line in text.splitlines()]
        assert emails == [f"person{n}@example.com" for n in range(1, 6)]


async def test_a_file_is_gone_after_seven_days(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await suppressed(conn, project, 1)
        export = await steps.begun(conn, project, "suppressions")
        await steps.worked(database)
        await conn.execute(
            "UPDATE mailqueue.exports SET finished_at = now() - interval '7 days 1 s'"
        )

        assert (await requests.find(conn, project, export.id)).state == "expired"
        with pytest.raises(Conflict, match="expired"):
            await steps.file_of(conn, project, export.id)


@pytest.mark.parametrize(
    ("kind", "where", "field"),
    [
        ("events", {"campaign": "spring"}, "campaign"),
        ("emails", {"status": "'; DROP TABLE x"}, "status"),
        ("events", {"type": "open"}, "type"),
        ("stats", {"dimension": ""}, "dimension"),
        ("suppressions", {"reason": "%"}, "reason"),
    ],
)
async def test_a_filter_that_cannot_match_is_refused_by_name(
    conn: Conn, kind: str, where: dict[str, str], field: str
) -> None:
    project = await make.project_named(conn)
    with pytest.raises(InvalidField) as refused:
        await steps.begun(conn, project, kind, where=where)
    assert refused.value.field == field


async def test_another_project_finds_and_deletes_nothing(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project, other = await make.project_named(conn), await make.project(conn, "other")
        export = await steps.begun(conn, project)
        await steps.worked(database)

        for call in (
            requests.find(conn, other, export.id),
            requests.delete(conn, other, export.id, by="eve"),
            steps.file_of(conn, other, export.id),
        ):
            with pytest.raises(NotFound):
                await call
        assert await requests.page(conn, other, limit=10) == []


async def _actions(conn: Conn) -> list[str]:
    query = "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'export.%%' ORDER BY id"
    return [row[0] for row in await make.rows(conn, query.replace("%%", "%"))]
