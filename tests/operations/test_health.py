"""The view health: each problem is one row, found at its threshold, with its fix."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import errors

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending
from mailqueue.operations.model import PRIORITIES
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.conftest import Server
from tests.mail.claim.steps import claim, settle
from tests.operations.pausing import pause, set_aside
from tests.rules.logins import login

pytestmark = pytest.mark.anyio

# Throwaway servers run without fsync, and in these tests no worker reports their disk space.
OF_THE_TEST_SERVER = {"durability", "free space"}


@pytest.fixture
async def sending(conn: Conn) -> Conn:
    """A healthy installation: an account, and a worker that has just claimed mail."""
    await make.sender_account(conn, name="relay")
    await make.queued_email(conn)
    await make.claimed(conn, await make.worker(conn))
    return conn


async def troubles(conn: Conn) -> dict[str, tuple[Any, ...]]:
    """Return (state, found, fix) of all checks that are not ok, by name."""
    found = await make.rows(conn, "SELECT name, state, found, fix FROM mailqueue.health")
    assert all(row[2] for row in found)
    bad = {row[0]: row[1:] for row in found if row[1] != "ok" and row[0] not in OF_THE_TEST_SERVER}
    assert all(fix for _, _, fix in bad.values())
    return bad


async def states(conn: Conn) -> dict[str, str]:
    return {name: row[0] for name, row in (await troubles(conn)).items()}


async def threshold(conn: Conn, name: str, value: str) -> None:
    await conn.execute(
        "UPDATE mailqueue.system_settings SET value = %s WHERE name = %s", (value, name)
    )


async def waiting(conn: Conn, age: timedelta, **columns: object) -> None:
    """Queue a mail that has been due for that long."""
    email = await make.queued_email(conn, **columns)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = now() - %s WHERE id = %s", (age, email)
    )


async def claimed_last(conn: Conn, ago: timedelta) -> None:
    await conn.execute(
        "UPDATE mailqueue.limit_counters SET tokens_at = clock_timestamp() - %s", (ago,)
    )


LATE, VERY_LATE = timedelta(minutes=10), timedelta(minutes=70)


async def test_an_installation_that_sends_is_well(sending: Conn) -> None:
    assert await troubles(sending) == {}


@pytest.mark.parametrize(("priority", "word"), list(enumerate(PRIORITIES)))
async def test_the_oldest_mail_of_each_class_is_looked_at(
    sending: Conn, priority: int, word: str
) -> None:
    await waiting(sending, LATE, priority=priority)
    assert await states(sending) == {f"oldest {word} mail": "warning"}

    await waiting(sending, VERY_LATE, priority=priority)
    found = (await troubles(sending))[f"oldest {word} mail"]
    assert found[0] == "alarm"
    assert "due for 70 min, in project default, route default" in found[1]


async def test_mail_that_waits_on_purpose_is_no_trouble(sending: Conn) -> None:
    await make.project(sending, "quiet", status="paused")
    await make.sender_account(
        sending, project_id=await make.project_named(sending, "quiet"), daily_limit=5
    )
    await waiting(sending, VERY_LATE, project="quiet")
    await make.sender_account(sending, name="used-up", daily_limit=0)
    await waiting(sending, VERY_LATE, sender="used-up")
    await waiting(sending, VERY_LATE, campaign_id="spring")
    await set_aside(sending, await pause(sending, "campaign", "spring"))

    assert await troubles(sending) == {}


async def test_a_backlog_behind_a_rate_is_a_warning_at_most(sending: Conn) -> None:
    await make.sender_account(sending, name="slow", rate_per_second=1)
    await waiting(sending, LATE, sender="slow")
    assert "oldest normal mail" not in await troubles(sending)

    await waiting(sending, VERY_LATE, sender="slow")
    found = (await troubles(sending))["oldest normal mail"]
    assert (found[0], found[2]) == ("warning", "raise the rate, or let it take its time")


async def test_many_unclaimed_mails_are_an_alarm(sending: Conn) -> None:
    await threshold(sending, "not_moving_mails", "2")
    for _ in range(3):
        await waiting(sending, timedelta(minutes=6))
    assert "movement" not in await troubles(sending), "its project was claimed from a moment ago"

    await claimed_last(sending, timedelta(minutes=6))
    found = (await troubles(sending))["movement"]
    assert found[0] == "alarm"
    assert "more than 2 normal mails in project default, route default" in found[1]

    await threshold(sending, "not_moving_mails", "3")
    assert "movement" not in await troubles(sending)


async def test_a_quarter_of_an_hour_without_a_sent_mail_is_an_alarm(sending: Conn) -> None:
    await waiting(sending, timedelta(minutes=16))
    assert (await states(sending))["sending"] == "alarm"

    worker = await make.worker(sending)
    await make.queued_email(sending, priority=0)
    await settle(sending, await claim(sending, worker, limit=1))
    assert "sending" not in await states(sending)


async def test_no_worker_is_worse_where_mail_waits(conn: Conn) -> None:
    await make.sender_account(conn)
    assert await states(conn) == {"workers": "warning"}

    await make.queued_email(conn)
    assert await states(conn) == {"workers": "alarm"}


async def test_held_mail_and_mail_in_doubt_are_told_apart(sending: Conn) -> None:
    project = await make.project_named(sending)
    held = await make.queued_email(sending)
    await sending.execute("SELECT mailqueue.hold_emails(%s, %s, 'x')", (project, [held]))
    assert await troubles(sending) == {}
    reason = "attempts used up: 451 later"
    await sending.execute("UPDATE mailqueue.email_queue SET last_error = %s", (reason,))
    await make.queued_email(sending, delivery="hold", priority=0)
    await settle(
        sending, await claim(sending, await make.worker(sending)), Ending.UNKNOWN, reason="no reply"
    )

    found = await troubles(sending)
    assert {name: row[0] for name, row in found.items()} == {
        "held mail": "warning",
        "mail in doubt": "warning",
    }
    assert found["held mail"][1].startswith("1 mail held")
    assert found["mail in doubt"][1].startswith("1 mail may or may not have been sent")
    await threshold(sending, "held_alarm", "0")
    assert set((await states(sending)).values()) == {"alarm"}


async def test_counters_that_do_not_add_up_are_an_alarm(sending: Conn) -> None:
    await sending.execute(
        "UPDATE mailqueue.limit_counters SET reserved = reserved + 2 WHERE reserved > 0"
    )

    found = (await troubles(sending))["reservations"]

    assert found[0] == "alarm"
    assert "3 reserved, 1 claimed" in found[1]


async def test_books_that_are_not_compared_are_a_warning(sending: Conn) -> None:
    await sending.execute(
        "INSERT INTO mailqueue.accepted_days (project_id, day, emails)"
        " VALUES (%s, current_date - 8, 1)",
        (await make.project_named(sending),),
    )
    assert await states(sending) == {"books": "warning"}

    await sending.execute("SELECT mailqueue.note_books('{}')")
    assert await troubles(sending) == {}

    await sending.execute("SELECT mailqueue.note_books('{1 email is missing}')")
    assert "1 email is missing" in (await troubles(sending))["books"][1]


@pytest.mark.parametrize(
    ("setting", "value", "check", "state"),
    [
        ("partitions_warning", "150 days", "partitions", "warning"),
        ("partitions_warning", "400 days", "partitions", "alarm"),
        ("xid_age_warning", "0", "transaction ids", "alarm"),
        ("connections_warning", "0", "connections", "warning"),
    ],
)
async def test_the_server_is_measured_by_the_settings(
    sending: Conn, setting: str, value: str, check: str, state: str
) -> None:
    await threshold(sending, setting, value)

    assert (await states(sending))[check] == state


async def test_dead_rows_are_told_by_table_and_so_is_autovacuum(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await threshold(conn, "dead_rows_warning", "10")
        await conn.execute("ALTER TABLE mailqueue.bounce_list SET (autovacuum_enabled = off)")
        await conn.execute(
            "INSERT INTO mailqueue.bounce_list (email, bounce_type)"
            " SELECT n || '@example.com', 'soft' FROM generate_series(1, 120) AS n"
        )
        await conn.execute("DELETE FROM mailqueue.bounce_list")
        await conn.execute("SELECT pg_stat_force_next_flush()")
        found = await troubles(conn)

    assert found["dead rows"][0] == "alarm"
    assert "bounce_list has 12" in found["dead rows"][1]
    assert found["autovacuum"][:2] == ("alarm", "it is off for bounce_list")


async def test_a_slot_that_keeps_wal_is_named(server: Server, sending: Conn) -> None:
    await threshold(sending, "slot_warning", "0")
    with psycopg.connect(server.superuser, autocommit=True) as admin:
        admin.execute("SELECT pg_create_physical_replication_slot('forgotten', true)")
        try:
            admin.execute("SELECT pg_switch_wal()")
            found = (await troubles(sending))["replication slots"]
        finally:
            admin.execute("SELECT pg_drop_replication_slot('forgotten')")

    assert found[0] in ("warning", "alarm")
    assert "forgotten (no session reads it) keeps" in found[1]


async def test_a_reader_without_rights_on_others_sessions_reads_all_the_rest(
    server: Server, shared_db: str
) -> None:
    async with login(server.superuser_url(urlsplit(shared_db).path[1:]), "mailqueue_dba") as conn:
        found = await make.rows(conn, "SELECT name, state, found FROM mailqueue.health")

    async with connect(DatabaseSettings(Secret(shared_db))) as owner:
        of_the_owner = await make.rows(owner, "SELECT name FROM mailqueue.health")
    assert {row[0] for row in found} == {row[0] for row in of_the_owner}
    assert len(found) >= 32
    assert {state for _, state, _ in found} <= {"ok", "warning", "alarm"}


async def test_sessions_that_cannot_be_looked_into_are_told_of(
    server: Server, database: DatabaseSettings
) -> None:
    url = server.superuser_url(urlsplit(database.url.reveal()).path[1:])
    async with connect(database) as owner, login(url, "mailqueue_dba") as conn:
        with psycopg.connect(url) as other:
            other.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            other.execute("SELECT 1 FROM mailqueue.projects")
            await threshold(owner, "xid_age_warning", "0")  # and makes the snapshot an old one
            [found] = await make.rows(
                conn, "SELECT state, found, fix FROM mailqueue.health WHERE name = 'transactions'"
            )

    assert found[0] == "warning"
    assert "1 of other users, which you may not look into" in found[1]
    assert "GRANT pg_read_all_stats TO mailqueue_test_" in found[2]


@pytest.mark.parametrize(
    "change",
    [
        "value = 'soon' WHERE name = 'oldest_due_alarm'",
        "value = '-1' WHERE name = 'held_alarm'",
        "value = 'much' WHERE name = 'free_space_refuse'",
        "name = 'mine' WHERE name = 'held_alarm'",
    ],
)
async def test_a_setting_that_makes_no_sense_is_refused(conn: Conn, change: str) -> None:
    with pytest.raises((psycopg.DataError, errors.CheckViolation)):
        await conn.execute(f"UPDATE mailqueue.system_settings SET {change}".encode())


async def test_a_change_of_a_setting_is_an_audit_row(conn: Conn) -> None:
    await threshold(conn, "oldest_due_alarm", "2 h")

    assert await make.rows(
        conn, "SELECT subject, detail FROM mailqueue.audit_events ORDER BY id DESC LIMIT 1"
    ) == [("setting oldest_due_alarm", {"from": "1 h", "to": "2 h"})]
