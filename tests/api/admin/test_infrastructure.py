"""`/admin/infrastructure`; beside it, consumers of events and keys of queues in trouble."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.administering import Administering, administering
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio

PATH = "/infrastructure"


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


async def test_all_sending_is_paused_and_resumed(admin: Administering) -> None:
    async with admin.conn() as conn:
        await make.sender_account(conn)
        await make.queued_email(conn)
    before = await admin("GET", f"{PATH}/pause")
    assert before == {
        "is_paused": False,
        "reason": None,
        "until": None,
        "actor": None,
        "since": None,
        "waiting": 1,
    }
    wanted = {"reason": "an incident", "until": "2035-01-01T00:00:00Z"}
    paused = await admin("POST", f"{PATH}/pause", wanted)
    assert paused == await admin("GET", f"{PATH}/pause")
    assert paused["is_paused"]
    assert paused["reason"] == "an incident"
    assert paused["until"].startswith("2035-01-01T00:00:00")
    assert "ann (token)" in paused["actor"]
    assert await admin("POST", f"{PATH}/resume") == before
    await admin("POST", f"{PATH}/resume", status=404)


async def test_a_pause_without_a_reason_or_in_the_past_is_refused(admin: Administering) -> None:
    await admin("POST", f"{PATH}/pause", {}, status=422)
    blank = await admin("POST", f"{PATH}/pause", {"reason": " "}, status=422)
    past = {"reason": "late", "until": "2020-01-01T00:00:00Z"}
    late = await admin("POST", f"{PATH}/pause", past, status=422)

    assert (blank["field"], late["field"]) == ("reason", "until")
    assert not (await admin("GET", f"{PATH}/pause"))["is_paused"]


async def test_a_worker_and_a_host_are_drained_and_resumed(admin: Administering) -> None:
    async with admin.conn() as conn:
        worker = await make.worker(conn, host="mail1")
    one, host = {"worker": worker}, {"host": "mail1"}

    assert await admin("POST", f"{PATH}/workers/drain", one) == {"workers": [worker]}
    [listed] = (await admin("GET", "/workers"))["data"]
    assert listed["status"] == "draining"
    await admin("POST", f"{PATH}/workers/drain", host, status=404)
    assert await admin("POST", f"{PATH}/workers/resume", host) == {"workers": [worker]}
    for body in ({}, one | host):
        refused = await admin("POST", f"{PATH}/workers/drain", body, status=422)
        assert refused["field"] == "worker"


async def test_partitions_disk_and_tasks_are_shown(admin: Administering) -> None:
    async with admin.conn() as conn:
        await conn.execute(
            "SELECT mailqueue.report_space('db1', '{data}', '{5000000000}', '{9000000000}')"
        )
        names = await make.rows(conn, "SELECT task FROM mailqueue.maintenance_tasks ORDER BY task")
    partitions = (await admin("GET", f"{PATH}/partitions"))["data"]
    disk = await admin("GET", f"{PATH}/disk")
    tasks = (await admin("GET", f"{PATH}/tasks"))["data"]

    one = partitions[0]
    assert one["name"] == f"{one['table_name']}_{one['month'][:7].replace('-', '_')}"
    assert one["state"] == "attached"
    assert one["bytes"] > 0
    assert one["is_archived"]
    assert one["month"] < one["leaves_from"] <= one["dropped_from"]
    assert disk["database_bytes"] > 0
    assert disk["size_limit_bytes"] is None
    [space] = disk["spaces"]
    assert (space["host"], space["place"], space["free_bytes"]) == ("db1", "data", 5_000_000_000)
    assert len(disk["tables"]) == 10
    sizes = [each["bytes"] for each in disk["tables"]]
    assert sizes == sorted(sizes, reverse=True)
    assert disk["slots"] == []
    assert [each["task"] for each in tasks] == [name for [name] in names]
    assert {each["last_seconds"] for each in tasks} == {None}
    assert not any(each["is_late"] or each["is_running"] for each in tasks)


async def test_partitions_leave_by_the_rules_of_projects(admin: Administering) -> None:
    async with admin.conn() as conn:
        await make.project(conn, "shop")
        await conn.execute(
            "INSERT INTO mailqueue.retention_rules"
            " (project_id, kind, hot_days, warm_days, keep_days)"
            " SELECT id, 'send_logs', 10, NULL, 10 FROM mailqueue.projects WHERE name = 'shop'"
        )
    found = (await admin("GET", f"{PATH}/partitions"))["data"]
    by_table = {each["table_name"]: each for each in found}
    logs, history = by_table["send_logs"], by_table["email_history"]

    assert logs["month"] == history["month"]
    assert logs["leaves_from"] < history["leaves_from"]
    assert logs["dropped_from"] == history["dropped_from"]


async def test_consumers_are_shown_with_what_waits_and_why(admin: Administering) -> None:
    async with admin.conn() as conn:
        await webhook(conn, "https://app.example.com/hooks")
        await told(conn, 3, is_read=False)
        await conn.execute(
            "UPDATE mailqueue.consumers SET last_error = 'disk full', skipped = 4"
            " WHERE name = 'webhooks'"
        )
        last = await make.scalar(conn, "SELECT mailqueue.last_event_number()")

    outboxes, webhooks = (await admin("GET", "/consumers"))["data"]

    assert (outboxes["name"], webhooks["name"]) == ("outboxes", "webhooks")
    for one in (outboxes, webhooks):
        assert one["waiting"] == 3
        assert one["position"] == last - 3
        assert one["waiting_since"] is not None
        assert not one["is_running"]
    assert (webhooks["last_error"], webhooks["skipped"]) == ("disk full", 4)


async def test_keys_of_queues_in_trouble_are_shown_with_the_reason(admin: Administering) -> None:
    async with admin.conn() as conn:
        hook = await webhook(conn, "https://app.example.com/hooks")
        await conn.execute(
            "SELECT mailqueue.note_key('webhooks', %s, false, 5, NULL, 'answered 500')",
            (str(hook),),
        )

    [one] = (await admin("GET", "/queue/keys"))["data"]

    assert (one["queue"], one["key"], one["circuit"]) == ("webhooks", str(hook), "open")
    assert (one["subject"], one["project"]) == ("https://app.example.com/hooks", "default")
    assert (one["failures"], one["last_error"]) == (5, "answered 500")
