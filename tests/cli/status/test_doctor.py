"""`mailqueue doctor`: each fault is found and named with its fix, and nothing else."""

import base64
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli
from tests.conftest import Server

# Throwaway servers run without fsync, and one on another machine cannot be looked into: faults of
# theirs that every examination here finds.
OF_THE_TEST_SERVER = {"durability", "free space"}


def findings(cli: Cli, env: dict[str, str | None] | None = None) -> dict[str, Any]:
    """Return the findings that are not ok, by the name of the check."""
    cli.environment |= env or {}
    result = cli("doctor", "--json")
    document = json.loads(result.stdout)
    assert (result.exit_code == 0) is (document["status"] == "ok")
    return {
        each["name"]: each
        for each in document["checks"]
        if each["state"] != "ok" and each["name"] not in OF_THE_TEST_SERVER
    }


async def well(conn: Conn) -> None:
    """An installation that works: an account, a worker, a mail being sent."""
    await make.sender_account(conn, name="relay")
    await make.queued_email(conn)
    await make.claimed(conn, await make.worker(conn))


def test_an_installation_that_sends_is_sound(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(well)

    assert findings(on_fresh_db) == {}
    shown = on_fresh_db("doctor").stdout
    count = len(json.loads(on_fresh_db("doctor", "--json").stdout)["checks"])
    assert count >= 48
    assert f"{count} checks" in shown
    assert "ok     workers" in shown


async def no_worker(conn: Conn) -> None:
    await conn.execute("SELECT mailqueue.stop_worker(1)")


async def silent_worker(conn: Conn) -> None:
    await make.worker(conn)
    await make.silent(conn, 1)


async def late_mail(conn: Conn) -> None:
    await make.queued_email(conn)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = now() - interval '1 h' WHERE status = 'pending'"
    )


async def no_account(conn: Conn) -> None:
    await make.project(conn, "shop")
    await make.queued_email(conn, project="shop")


async def held(conn: Conn, reason: str = "attempts used up: 451 later") -> None:
    project_id = await make.project_named(conn)
    email_id = await make.queued_email(conn)
    await conn.execute("SELECT mailqueue.hold_emails(%s, %s, %s)", (project_id, [email_id], reason))


async def suspended(conn: Conn) -> None:
    await conn.execute("SELECT mailqueue.suspend_sender(1, '535 bad password')")


async def unreachable(conn: Conn) -> None:
    await conn.execute("SELECT mailqueue.rest_sender(1, 'connection refused')")
    await conn.execute(
        "UPDATE mailqueue.limits SET blocked_until = now() + interval '1 min'"
        " WHERE sender_account_id = 1"
    )


async def lost_row(conn: Conn) -> None:
    await make.by_hand(conn)
    await conn.execute("DELETE FROM mailqueue.email_queue")


async def waiter_that_is_gone(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.waiters (worker_id, queue) VALUES (99, 'email_queue')"
    )


async def partitions_that_end(conn: Conn) -> None:
    await conn.execute("SET ROLE mailqueue_owner")
    later = await make.rows(
        conn,
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'mailqueue.send_logs'::regclass",
    )
    for (name,) in later:
        await conn.execute(f"DROP TABLE {name}".encode())


async def records_that_stay(conn: Conn) -> None:
    await conn.execute("INSERT INTO mailqueue.event_keys VALUES (gen_random_uuid(), '2020-02-29')")


@pytest.mark.parametrize(
    ("ail", "checks", "says"),
    [
        (records_that_stay, ["retention"], "event_keys has rows of 2020-02-29"),
        (no_worker, ["workers"], "no worker is running"),
        (silent_worker, ["lost workers"], "with mail: 1 (test, pid 1) holds 1"),
        (late_mail, ["oldest normal mail", "sending"], "due for 60 min, in project default"),
        (no_account, ["sender accounts"], "without a sender account: shop"),
        (held, ["held mail"], "1 mail held until a person decides"),
        (suspended, ["stopped accounts"], "default/relay (535 bad password)"),
        (unreachable, ["stopped accounts"], "default/relay (unreachable)"),
        (lost_row, ["reservations", "books"], "limit 1 on "),
        (waiter_that_is_gone, ["waiters"], "1 worker that ended still waits for a NOTIFY"),
        (partitions_that_end, ["partitions"], "send_logs ends before it began"),
    ],
)
def test_each_fault_is_found_with_its_fix(
    on_fresh_db: Cli, ail: Callable[[Conn], Awaitable[None]], checks: list[str], says: str
) -> None:
    on_fresh_db.sql(well)
    on_fresh_db.sql(ail)

    found = findings(on_fresh_db)

    assert list(found) == checks
    first = found[checks[0]]
    assert says in first["found"]
    assert first["fix"]
    assert first["state"] in ("warning", "alarm")
    shown = on_fresh_db("doctor")
    assert shown.exit_code == 1
    word = {"warning": "warn ", "alarm": "ALARM"}[first["state"]]
    assert f"{word}  {checks[0]}" in shown.stdout
    assert f"fix: {first['fix']}" in shown.stdout


def test_a_row_that_was_deleted_is_told_by_project_and_day(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(well)
    on_fresh_db.sql(lost_row)

    assert "1 email of project default" in findings(on_fresh_db)["books"]["found"]


def test_a_transaction_open_for_long_is_named_by_pid_and_program(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(well)
    on_fresh_db.sql(
        lambda conn: conn.execute(
            "UPDATE mailqueue.system_settings SET value = '0 s' WHERE name = 'transaction_warning'"
        )
    )
    with psycopg.connect(on_fresh_db.database, application_name="report") as other:
        other.execute("SELECT 1")
        found = findings(on_fresh_db)["transactions"]

        pid = other.info.backend_pid
    assert f"pid {pid} (report, user mailqueue_test, idle in transaction) since" in found["found"]
    assert str(pid) in found["fix"]


def test_another_isolation_by_default_is_told(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(well)
    url = on_fresh_db.database + "?options=-cdefault_transaction_isolation%3Dserializable"

    found = findings(on_fresh_db, {"MAILQUEUE_DATABASE_URL": url})

    assert list(found) == ["isolation"]


def test_a_master_key_that_opens_nothing_is_told(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(well)
    keys = [base64.b64encode(bytes([n] * 32)).decode() for n in (1, 2)]
    added = on_fresh_db(
        "sender", "add", "--name", "mx", "--host", "mx.example.com", "--username", "ann",
        "--password-env", "PW", env={"MAILQUEUE_MASTER_KEY": keys[0], "PW": "hunter2"},
    )  # fmt: skip
    assert added.exit_code == 0, added.output

    assert findings(on_fresh_db, {"MAILQUEUE_MASTER_KEY": keys[0]}) == {}
    for wrong in (keys[1], None):
        found = findings(on_fresh_db, {"MAILQUEUE_MASTER_KEY": wrong})
        assert list(found) == ["credentials"]
        assert "MAILQUEUE_MASTER_KEY" in found["credentials"]["fix"]


def test_a_password_moved_to_another_account_is_told(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(well)
    key = {"MAILQUEUE_MASTER_KEY": base64.b64encode(bytes(32)).decode()}
    added = on_fresh_db(
        "sender", "add", "--name", "mx", "--host", "mx.example.com", "--username", "ann",
        "--password-env", "PW", env={**key, "PW": "hunter2"},
    )  # fmt: skip
    assert added.exit_code == 0, added.output
    moved = (
        "UPDATE mailqueue.sender_accounts SET smtp_password ="
        " (SELECT smtp_password FROM mailqueue.sender_accounts WHERE name = 'mx')"
    )
    on_fresh_db.sql(lambda conn: conn.execute(moved.encode()))

    assert list(findings(on_fresh_db, dict(key))) == ["credentials"]


def test_a_schema_that_lags_is_told_and_nothing_that_needs_it_is_asked(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(
        lambda conn: conn.execute("DELETE FROM mailqueue.schema_objects WHERE path ^@ 'grants'")
    )

    found = findings(on_fresh_db)

    assert list(found) == ["schema"]
    assert found["schema"]["fix"] == "run `mailqueue migrate`"
    assert "workers" not in on_fresh_db("doctor").stdout


def test_an_empty_database_is_told(empty_db: str, tmp_path: Path) -> None:
    found = findings(Cli(empty_db, tmp_path))

    assert list(found) == ["schema"]


def test_a_server_that_is_away_is_one_finding(on_fresh_db: Cli) -> None:
    found = findings(
        on_fresh_db, {"MAILQUEUE_DATABASE_URL": "postgresql://ann:hunter2@127.0.0.1:1/mailqueue"}
    )

    assert list(found) == ["server"]
    assert "127.0.0.1:1" in found["server"]["found"]
    assert "hunter2" not in str(found)


def test_a_data_folder_that_cannot_be_written_is_told(on_fresh_db: Cli, tmp_path: Path) -> None:
    """The folder is a file; permissions of a folder do not stop root."""
    on_fresh_db.sql(well)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")

    found = findings(on_fresh_db, {"MAILQUEUE_DATA": str(in_the_way / "data")})

    assert list(found) == ["data folder"]


def found_by_login(cli: Cli, server: Server, options: str) -> dict[str, Any]:
    """Return the findings for a login that is created for the test."""
    database = cli.database.rpartition("/")[2]
    name = f"mailqueue_test_doctor_{os.getpid()}"
    with psycopg.connect(server.superuser, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'x' {options}".encode())
        try:
            host = server.superuser.rpartition("@")[2].partition("/")[0]
            url = f"postgresql://{name}:x@{host}/{database}"
            return findings(cli, {"MAILQUEUE_DATABASE_URL": url})
        finally:
            admin.execute(f"DROP ROLE {name}".encode())


def test_an_unlucky_user_is_told_what_cannot_be_checked(on_fresh_db: Cli, server: Server) -> None:
    """A login without rights gets findings, not a traceback."""
    found = found_by_login(on_fresh_db, server, "")

    assert list(found) == ["schema"]
    assert "cannot be checked" in found["schema"]["found"]


def test_a_login_that_may_not_read_all_tables_leaves_retention_out(
    on_fresh_db: Cli, server: Server
) -> None:
    on_fresh_db.sql(records_that_stay)
    found = found_by_login(on_fresh_db, server, "IN ROLE mailqueue_worker")

    assert "retention" not in found


def test_a_login_that_policies_would_not_hold_is_named(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(well)
    with psycopg.connect(on_fresh_db.database, autocommit=True) as admin:
        admin.execute("REVOKE mailqueue_api FROM mailqueue_owner")
        try:
            found = findings(on_fresh_db)
        finally:
            admin.execute("GRANT mailqueue_api TO mailqueue_owner")

    assert list(found) == ["roles"]
    assert "GRANT mailqueue_api" in found["roles"]["fix"]
