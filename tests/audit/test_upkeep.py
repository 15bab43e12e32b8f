"""Seals of the audit log through erasure, retention, maintenance and a dump."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from mailqueue.core.errors import Conflict
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.embedded.binaries import find_binaries
from mailqueue.maintenance import tasks
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Task, TaskResult
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.audit.sealed import add, by_owner, cut, name_of, older, sealed, verified
from tests.conftest import Server
from tests.privacy.erasing import erased

pytestmark = pytest.mark.anyio

ANN = "ann@privat.example"


async def kept_for(conn: Conn, days: int) -> None:
    await conn.execute(
        "SELECT mailqueue.change_retention(NULL, 'audit_events', %s, NULL, %s, 'tests')",
        (days, days),
    )


async def run(context: MaintenanceContext) -> TaskResult:
    [result] = await tasks.run(context, [Task.AUDIT], tell=lambda _: None)
    return result


@pytest.mark.parametrize(
    "subject",
    [
        f"order of {ANN}, urgent",
        f"({ANN})",
        "ANN@PRIVAT.EXAMPLE",
        "https://shop.example/?to=ann%40privat.example&x=1",
        "<ann=privat.example@mail.example>",
        f"{ANN},bob@other.example",
    ],
)
async def test_an_erased_person_leaves_a_log_that_fits(
    context: MaintenanceContext, subject: str
) -> None:
    await add(context.conn, subject, "another row")
    await context.conn.execute(
        "INSERT INTO mailqueue.audit_events (action, subject, detail)"
        " VALUES ('emails.held', 'project default', jsonb_build_object('filter', %s::text))",
        (subject,),
    )
    await run(context)

    assert (await erased(context, ANN)).is_done

    before = await verified(context.conn)
    result = await run(context)
    after = await verified(context.conn)
    assert (before.faults, before.waiting) == ([], 3), "with the row of the erasure"
    assert result.report.counts == {"sealed": 1, "changed": 2, "deleted": 0}
    assert not result.needs_person
    assert (after.faults, after.waiting, after.changed) == ([], 0, 2)
    left = await make.scalar(
        context.conn, "SELECT string_agg(a::text, '') FROM mailqueue.audit_events AS a"
    )
    assert "privat.example" not in left.lower()


async def test_rows_past_their_retention_leave_behind_a_signed_cut(
    context: MaintenanceContext,
) -> None:
    conn = context.conn
    await older(conn, await add(conn, *(f"old {n}" for n in range(3))), days=40)
    await add(conn, "young")
    await run(context)
    assert (await verified(conn)).sealed == 4
    await kept_for(conn, 30)

    result = await run(context)

    await run(context)
    found = await verified(conn)
    actions = await make.rows(conn, "SELECT action FROM mailqueue.audit_events ORDER BY id")
    assert result.report.counts["deleted"] == 3
    assert [row[0] for row in actions] == ["limit.changed", "retention.changed", "audit.deleted"]
    assert (found.sealed, found.waiting, found.faults) == (3, 0, [])
    assert found.deleted_until is not None


async def test_a_cut_of_the_owners_own_does_not_fit(context: MaintenanceContext) -> None:
    conn = context.conn
    await add(conn, *(f"row {n}" for n in range(4)))
    await run(context)

    await by_owner(
        conn,
        "DELETE FROM mailqueue.audit_events WHERE subject IN ('row 0', 'row 1')",
        "DELETE FROM mailqueue.audit_seals WHERE position = 1",
        "UPDATE mailqueue.audit_seals SET kind = 'cut', event_id = NULL, row_code = code"
        " WHERE position = 2",
    )

    assert (await verified(conn)).faults == ["seal 2, which stands for deleted rows, was changed"]


async def test_all_rows_may_be_past_their_retention(context: MaintenanceContext) -> None:
    conn = context.conn
    await older(conn, await add(conn, "old", "older"), days=40)
    await sealed(conn)
    await kept_for(conn, 30)

    assert await cut(conn) == 2
    assert await cut(conn) == 0

    await sealed(conn)
    found = await verified(conn)
    assert (found.sealed, found.faults) == (2, []), "of the rule, and of the deletion"


async def test_a_row_that_does_not_fit_is_not_deleted_by_retention(
    context: MaintenanceContext,
) -> None:
    conn = context.conn
    old = await add(conn, "old", "older")
    await older(conn, old, days=40)
    await sealed(conn)
    await kept_for(conn, 30)
    await by_owner(conn, f"UPDATE mailqueue.audit_events SET actor = 'x' WHERE id = {old[1]}")

    with pytest.raises(Conflict, match=f"row {old[1]} "):
        await cut(conn)

    assert (await run(context)).is_stopped
    assert (await verified(conn)).faults[0].startswith(f"row {old[1]} ")


async def test_a_row_made_old_is_not_deleted_by_retention(context: MaintenanceContext) -> None:
    conn = context.conn
    ids = await add(conn, "one", "two")
    await sealed(conn)
    await kept_for(conn, 30)

    await older(conn, ids[:1], days=40)

    with pytest.raises(Conflict, match=f"row {ids[0]} "):
        await cut(conn)


async def test_rows_are_kept_permanently_unless_a_rule_says_otherwise(
    context: MaintenanceContext,
) -> None:
    await older(context.conn, await add(context.conn, "old"), days=10_000)

    assert (await run(context)).report.counts == {"sealed": 1, "changed": 0, "deleted": 0}


async def test_without_a_master_key_the_task_says_so(
    context: MaintenanceContext, database: DatabaseSettings
) -> None:
    await add(context.conn, "one")
    opened = tasks.open_context(database, context.stores, operator="tests", advance=lambda _: None)
    async with opened as without:
        result = await run(without)

    assert result.report.summary == "the audit log is not sealed: no master key is set"
    assert not result.needs_person


async def test_health_warns_of_rows_that_wait_for_days(context: MaintenanceContext) -> None:
    conn = context.conn
    health = "SELECT state FROM mailqueue.health WHERE name = 'audit'"
    await conn.execute("UPDATE mailqueue.maintenance_tasks SET created_at = now() - interval '9 d'")
    ids = await add(conn, "one")
    fresh = await make.scalar(conn, health)
    await older(conn, ids, days=3)
    waiting = await make.scalar(conn, health)

    await run(context)

    assert (fresh, waiting) == ("ok", "warning")
    assert await make.scalar(conn, health) == "ok"


@pytest.mark.deep
async def test_a_dump_that_is_restored_verifies(
    context: MaintenanceContext, server: Server, fresh_db: str, empty_db: str, tmp_path: Path
) -> None:
    conn = context.conn
    await add(conn, "one", 'zwei – ünïcode \\ "quoted"')
    await run(context)
    head = (await verified(conn)).head
    dump = tmp_path / "dump"

    def program(name: str, *arguments: str) -> None:
        path = str(find_binaries().bin / name)
        subprocess.run([path, *arguments], check=True, capture_output=True)

    source, target = (server.superuser_url(name_of(each)) for each in (fresh_db, empty_db))
    await asyncio.to_thread(program, "pg_dump", "--format=custom", f"--file={dump}", source)
    await asyncio.to_thread(
        program, "pg_restore", "--exit-on-error", f"--dbname={target}", str(dump)
    )

    async with connect(DatabaseSettings(Secret(target))) as restored:
        await restored.execute("SET TimeZone = 'Asia/Kolkata'")
        found = await verified(restored, known_head=head)
        await add(restored, "after the restore")
        await sealed(restored)
        later = await verified(restored, known_head=head)
    assert (found.sealed, found.faults) == (2, [])
    assert (later.sealed, later.faults) == (3, [])
