"""`mailqueue queue`, `why`, `status` and `doctor` for rows of any queue besides mail."""

import json
from uuid import UUID, uuid4

import pytest
from psycopg.errors import InsufficientPrivilege

from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli
from tests.queue.kernel.kinds import KINDS

pytestmark = pytest.mark.parametrize("spec", QUEUES, ids=lambda spec: spec.name)
STOPPED = "it stopped its worker: signal SIGKILL"


def filled(cli: Cli, spec: QueueSpec) -> str:
    """Insert a few rows, due for five minutes; return the id of one."""
    ids = list[UUID]()

    async def fill(conn: Conn) -> None:
        async with KINDS[spec.name](conn, 2) as rows:
            ids.extend(rows.ids)
        await conn.execute(
            f"UPDATE mailqueue.{spec.table} SET run_at = now() - interval '5 min'"
            " WHERE run_at <= now()"
        )

    cli.sql(fill)
    return str(ids[0])


def change(cli: Cli, spec: QueueSpec, row: str, assignments: str) -> None:
    async def changed(conn: Conn) -> None:
        await conn.execute(f"UPDATE mailqueue.{spec.table} SET {assignments} WHERE id = %s", (row,))

    cli.sql(changed)


def run_worker(cli: Cli, spec: QueueSpec) -> None:
    async def run(conn: Conn) -> None:
        await make.worker(conn, kind=spec.name, queues=[spec.name])

    cli.sql(run)


def findings(cli: Cli) -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in json.loads(cli("doctor", "--json").stdout)["checks"]}


def test_a_queue_without_a_worker_is_reported_everywhere(on_fresh_db: Cli, spec: QueueSpec) -> None:
    row = filled(on_fresh_db, spec)

    [state] = [one for one in on_fresh_db.json("status")["queues"] if one["queue"] == spec.name]
    assert state["due"] >= (1 if spec.name == "stats" else 2)  # counting has one row
    assert state["workers"] == 0
    assert state["oldest_due_at"]
    assert f"mailqueue worker {spec.name}" in on_fresh_db.json("why", row)["why"]
    finding = findings(on_fresh_db)["work queues"]
    assert f"{spec.name} for 5 min" in finding["found"]
    assert spec.name in finding["fix"]

    run_worker(on_fresh_db, spec)
    assert "waiting for its turn behind" in on_fresh_db("why", row).stdout
    assert spec.name not in findings(on_fresh_db)["work queues"]["found"]


def test_a_row_that_stopped_its_worker_is_named_and_queued_again(
    on_fresh_db: Cli, spec: QueueSpec
) -> None:
    row = filled(on_fresh_db, spec)
    failed = f"status = 'failed', finished_at = now(), crashes = 4, last_error = '{STOPPED}'"
    change(on_fresh_db, spec, row, failed)

    assert "failed at " in on_fresh_db.json("why", row)["why"]
    assert STOPPED in on_fresh_db("queue", "show", row).stdout
    [listed] = on_fresh_db.json("queue", "list", spec.name, "--status", "failed")
    assert listed["id"] == row
    finding = findings(on_fresh_db)["rows that stop workers"]
    assert f"1 of {spec.name}" in finding["found"]
    assert row in finding["fix"]

    again = on_fresh_db.json("queue", "requeue", row)
    assert again == [{"queue": spec.name, "rows": 1}]
    shown = on_fresh_db.json("queue", "show", row)["row"]
    assert (shown["status"], shown["crashes"], shown["attempts"]) == ("pending", 0, 0)
    assert findings(on_fresh_db)["rows that stop workers"]["state"] == "ok"


def test_a_row_that_waits_is_cancelled_and_read_by_no_other_project(
    on_fresh_db: Cli, spec: QueueSpec
) -> None:
    row = filled(on_fresh_db, spec)

    async def as_tenant(conn: Conn) -> None:
        await conn.execute("SET ROLE mailqueue_api")
        await conn.execute("SELECT set_config('mailqueue.project', %s, false)", (str(uuid4()),))
        with pytest.raises(InsufficientPrivilege, match="another project"):
            await make.scalar(conn, "SELECT mailqueue.why(%s)", row)

    on_fresh_db.sql(as_tenant)

    assert on_fresh_db.json("queue", "cancel", row) == [{"queue": spec.name, "rows": 1}]
    shown = on_fresh_db.json("queue", "show", row)
    assert shown["row"]["status"] == "failed"
    assert "cancelled by" in shown["why"]
    assert "no row of these waits" in on_fresh_db("queue", "cancel", row).stdout


def test_why_tells_who_handles_a_row_and_that_it_is_handled_alone(
    on_fresh_db: Cli, spec: QueueSpec
) -> None:
    row = filled(on_fresh_db, spec)
    run_worker(on_fresh_db, spec)
    held = (
        "status = 'assigned', claim_no = 1, worker_id = 1, assigned_at = now(), lease_until = now()"
    )
    change(on_fresh_db, spec, row, held)
    assert "worker 1 handles it since" in on_fresh_db.json("why", row)["why"]

    change(
        on_fresh_db,
        spec,
        row,
        "status = 'pending', claim_no = NULL, worker_id = NULL, assigned_at = NULL,"
        " lease_until = NULL, crashes = 2, last_error = 'gone',"
        " run_at = now() + interval '1 h', attempts = 1",
    )
    why = on_fresh_db.json("why", row)["why"]
    assert "tried once, next attempt at" in why
    alone = "it is handled alone, in a process of its own: gone;"
    assert f"{alone} to give it up: mailqueue queue cancel {row}" in why
