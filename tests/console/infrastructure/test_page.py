"""The infrastructure in the console: what is wrong is shown with what to do."""

import pytest

from mailqueue.console.infrastructure.pages import CHECKS, SECTIONS
from tests import make
from tests.console.visiting import Visiting
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio

PATH = "/console/infrastructure"


async def test_workers_queues_blocked_lanes_and_circuits_are_shown(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn, console.visitor() as visitor:
        await make.worker(conn)
        await make.sender_account(conn, name="relay")
        await make.queued_email(conn)
        await conn.execute(
            "UPDATE mailqueue.limits SET circuit_opened_at = now(), blocked_reason = 'circuit',"
            " blocked_until = now() + interval '1 h' WHERE sender_account_id IS NOT NULL"
        )
        await conn.execute(
            "UPDATE mailqueue.lanes SET blocked_reason = 'circuit',"
            " blocked_until = now() + interval '1 h'"
        )
        await visitor.log_in("ann")
        text = (await visitor.get(PATH)).text

    workers, queues, lanes, circuits = (
        text.partition(f"<h2>{title}</h2>")[2].partition("</section>")[0]
        for title in ("Workers", "Queues", "Blocked lanes", "Circuits")
    )
    assert "running" in workers
    assert "webhooks" in queues
    assert "circuit open" in lanes
    assert "relay" in circuits
    assert "half open" not in circuits


async def test_webhooks_that_are_set_aside_are_shown_among_circuits(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn, console.visitor() as visitor:
        hook = await webhook(conn, "https://app.example.com/hooks")
        await conn.execute(
            "SELECT mailqueue.note_key('webhooks', %s, false, 5, NULL, 'no <room>')", (str(hook),)
        )
        await visitor.log_in("ann")
        text = (await visitor.get(PATH)).text

    circuits = text.partition("<h2>Circuits</h2>")[2].partition("</section>")[0]
    assert "https://app.example.com/hooks" in circuits
    assert "set aside until" in circuits
    assert "no &lt;room&gt;" in circuits
    assert "All circuits are closed" not in circuits


async def test_consumers_of_events_are_shown_with_what_waits_and_why(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn, console.visitor() as visitor:
        await webhook(conn, "https://app.example.com/hooks")
        await told(conn, 1234, is_read=False)
        await conn.execute(
            "UPDATE mailqueue.event_stream SET created_at = created_at - interval '20 s'"
        )
        await conn.execute("UPDATE mailqueue.consumers SET last_error = 'no <room>'")
        await visitor.log_in("ann")
        text = (await visitor.get(PATH)).text

    consumers = text.partition("<h2>Consumers of events</h2>")[2].partition("</section>")[0]
    assert "webhooks has not handled 1234 events" in consumers, "what the doctor says"
    for name in ("outboxes", "webhooks"):
        row = consumers.partition(f'<th scope="row">{name}</th>')[2].partition("</tr>")[0]
        assert "1,234" in row
        assert "no &lt;room&gt;" in row


async def test_a_check_that_fails_says_what_to_do(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn, console.visitor() as visitor:
        await make.queued_email(conn)
        await conn.execute("UPDATE mailqueue.email_queue SET run_at = now() - interval '3 h'")
        await visitor.log_in("ann")
        checks = (await visitor.get(PATH)).text.partition("<h2>Workers</h2>")[0]
        found = "SELECT name, fix FROM mailqueue.health WHERE state <> 'ok'"
        wrong = await make.rows(conn, found)

    assert wrong
    for name, fix in wrong:
        assert name.capitalize() in checks
        assert fix is None or "To do:" in checks


async def test_disk_partitions_and_maintenance_are_shown(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.connection() as conn, console.visitor() as visitor:
        await conn.execute(
            "SELECT mailqueue.report_space('db1', '{data,wal}', '{5000000000,900000000}',"
            " '{9000000000,1000000000}')"
        )
        await conn.execute(
            "UPDATE mailqueue.maintenance_tasks SET last_run_at = now(), last_took = '90 s',"
            " last_error = 'no <room>', last_report = '3 dropped' WHERE task = 'partitions'"
        )
        await visitor.log_in("ann")
        text = (await visitor.get(PATH)).text
        months = await make.rows(conn, "SELECT name, dropped_from FROM mailqueue.partition_board()")

    disk, partitions, tasks = (
        text.partition(f"<h2>{title}</h2>")[2].partition("</section>")[0]
        for title in ("Disk", "Partitions", "Maintenance")
    )
    assert "5.0 GB of 9.0 GB" in disk
    assert "900 MB of 1.0 GB" in disk
    assert "email_history" in disk
    assert "There is no replication slot." in disk
    assert "Free space" in disk
    assert f"{len(months)} monthly tables" in partitions
    assert f"dropped after {min(day for _, day in months)}" in partitions
    assert "to the archive" in partitions
    assert "no &lt;room&gt;" in tasks
    assert "0:01:30" in tasks
    assert "Maintenance" in tasks


async def test_every_check_of_a_section_is_one_of_the_doctor(console: Visiting) -> None:
    async with console.connection() as conn:
        known = {name for [name] in await make.rows(conn, "SELECT name FROM mailqueue.health")}

    assert set().union(*CHECKS.values()) <= known
    assert set(CHECKS) <= set(SECTIONS)
