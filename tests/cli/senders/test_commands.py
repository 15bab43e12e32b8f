"""`mailqueue sender`: arguments and output."""

import base64
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result

from mailqueue.cli.main import main

Cli = Callable[..., Result]

RELAY = (
    "sender",
    "add",
    "--name",
    "relay",
    "--host",
    "127.0.0.1",
    "--port",
    "2525",
    "--tls",
    "none",
)
LOGIN = ("sender", "add", "--name", "mx", "--host", "mx.example.com", "--username", "ann")


@pytest.fixture
def cli(fresh_db: str, tmp_path: Path) -> Cli:
    """Run a command on a fresh database, with a master key."""
    environment: dict[str, str | None] = {
        "MAILQUEUE_DATABASE_URL": fresh_db,
        "MAILQUEUE_DATA": str(tmp_path),
        "MAILQUEUE_MASTER_KEY": base64.b64encode(bytes(range(32))).decode(),
    }

    def invoke(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
        return CliRunner(env=environment | (env or {})).invoke(main, arguments)

    return invoke


def document(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def facts_of(text: str) -> dict[str, str]:
    """Return the values that a command prints one per line, by name."""
    return dict(re.split(r"  +", line, maxsplit=1) for line in text.splitlines())


def test_an_account_is_added_listed_and_shown(cli: Cli, fresh_db: str) -> None:
    added = document(
        cli(
            *RELAY,
            "--from",
            '"Ann, A." <ann@example.com>',
            "--daily-limit",
            "1000",
            "--batch-size",
            "50",
            "--send-delay-ms",
            "100",
            "--rate-per-second",
            "2.5",
            "--priority",
            "7",
            "--json",
        )
    )

    wanted = {
        "name": "relay",
        "provider_type": "smtp",
        "from_email": "ann@example.com",
        "from_name": "Ann, A.",
        "daily_limit": 1000,
        "batch_size": 50,
        "send_delay_ms": 100,
        "rate_limit_per_sec": 2.5,
        "priority": 7,
        "is_active": True,
        "status": "active",
    }
    assert {key: added[key] for key in wanted} == wanted
    assert added["credentials"] == {
        "host": "127.0.0.1",
        "port": 2525,
        "tls_mode": "none",
        "username": None,
        "password": None,
    }
    with psycopg.connect(fresh_db) as conn:
        stored = conn.execute(
            "SELECT is_private_ok FROM mailqueue.sender_accounts WHERE public_id = %s",
            (added["id"],),
        )
        assert stored.fetchone() == (True,)
    assert document(cli("sender", "show", "relay", "--json")) == added
    assert document(cli("sender", "list", "--project", "default", "--json"))["data"] == [added]
    assert {"project": "default", **added} in document(cli("sender", "list", "--json"))["data"]
    assert "smtp 127.0.0.1:2525 none" in cli("sender", "list").output
    assert "smtp 127.0.0.1:2525 none" in cli("sender", "show", "relay").output


def test_what_an_account_sent_today_stands_beside_it(cli: Cli, fresh_db: str) -> None:
    added = document(cli(*RELAY, "--daily-limit", "10", "--json"))
    assert (added["sent_today"], added["headroom"]) == (0, 10)
    assert facts_of(cli("sender", "show", "relay").stdout)["waits for"] == "-"

    with psycopg.connect(fresh_db, autocommit=True) as conn:
        conn.execute("SET ROLE mailqueue_owner")
        conn.execute(
            "UPDATE mailqueue.limit_counters SET sent = 10, day = (now() AT TIME ZONE 'UTC')::date"
            " WHERE limit_id = (SELECT l.id FROM mailqueue.limits AS l"
            " JOIN mailqueue.sender_accounts AS a ON a.id = l.sender_account_id"
            " WHERE a.public_id = %s)",
            (added["id"],),
        )

    shown = document(cli("sender", "show", "relay", "--json"))
    assert (shown["sent_today"], shown["headroom"]) == (10, 0)
    assert shown["status"] == "paused_limit_reached"
    assert facts_of(cli("sender", "show", "relay").stdout)["waits for"] == "daily_limit"
    assert "paused_limit_reached" in cli("sender", "list").output


def test_a_preset_sets_what_is_not_given(cli: Cli) -> None:
    added = document(
        cli(
            "sender",
            "add",
            "--name",
            "g",
            "--preset",
            "gmail",
            "--username",
            "a@example.com",
            "--password-env",
            "G",
            "--batch-size",
            "10",
            "--json",
            env={"G": "hunter2"},
        )
    )

    assert (added["credentials"]["host"], added["credentials"]["port"]) == ("smtp.gmail.com", 587)
    assert (added["daily_limit"], added["batch_size"], added["send_delay_ms"]) == (2000, 10, 100)


def test_a_preset_with_other_security_takes_the_port_that_belongs_to_it(cli: Cli) -> None:
    added = document(
        cli(
            "sender",
            "add",
            "--name",
            "r",
            "--preset",
            "resend",
            "--tls",
            "implicit",
            "--password-env",
            "R",
            "--json",
            env={"R": "hunter2"},
        )
    )

    assert (added["credentials"]["port"], added["credentials"]["username"]) == (465, "resend")


def test_a_password_comes_from_the_environment_and_is_never_printed(cli: Cli) -> None:
    added = cli(*LOGIN, "--password-env", "MX_PASSWORD", "--json", env={"MX_PASSWORD": "hunter2"})

    assert document(added)["credentials"]["password"] == "********"
    for result in (
        added,
        cli("sender", "show", "mx"),
        cli("sender", "show", "mx", "--json"),
        cli("sender", "list", "--json"),
    ):
        assert "hunter2" not in result.output
        assert base64.b64encode(b"hunter2").decode() not in result.output
    assert "sealed" in cli("sender", "show", "mx").output


def test_there_is_no_option_for_the_password_itself(cli: Cli) -> None:
    assert cli(*LOGIN, "--password", "hunter2").exit_code == 2


BAD_INPUT: tuple[tuple[tuple[str, ...], int, str], ...] = (
    ((*RELAY, "--daily-limit", "0"), 1, "daily_limit: must be at least 1, got 0"),
    ((*RELAY, "--daily-limit", "many"), 2, "'--daily-limit': 'many'"),
    ((*RELAY, "--from", "nobody"), 1, "from: 'nobody' has no @"),
    ((*RELAY, "--time-zone", "Mars/Base"), 1, "time_zone: "),
    ((*RELAY, "--project", "nowhere"), 1, "no project nowhere"),
    ((*RELAY, "--username", "ann", "--password-env", "NONE"), 1, "variable 'NONE' is not set"),
    ((*RELAY, "--password-env", "HOME"), 1, "username: is needed"),
    (LOGIN, 1, "password-env: username 'ann' needs a password"),
    (("sender", "add", "--name", "x"), 1, "host: is needed"),
    (("sender", "add", "--name", "x", "--host", "a b"), 1, "host: host 'a b'"),
    (("sender", "add", "--name", "x", "--host", "h", "--port", "0"), 1, "got 0"),
    (("sender", "add", "--name", "a  b", "--host", "h"), 1, "got 'a  b'"),
    (("sender", "add", "--host", "h"), 2, "'--name'"),
    ((*RELAY, "--tls", "maybe"), 2, "'maybe'"),
    (("sender", "show", "relay"), 1, "no sender account relay in project default"),
    (("sender", "limits", "relay"), 2, "at least one limit"),
    (("sender", "pause", "relay", "--until", "soon"), 1, "until: must be"),
)


def test_bad_input_names_the_field_and_the_value_and_stores_nothing(cli: Cli) -> None:
    before = document(cli("sender", "list", "--json"))

    for arguments, code, shown in BAD_INPUT:
        result = cli(*arguments)

        assert result.exit_code == code, arguments
        assert result.stdout == "", arguments
        assert shown in result.stderr, arguments
    assert document(cli("sender", "list", "--json")) == before


def test_a_name_is_taken_once(cli: Cli) -> None:
    assert cli(*RELAY).exit_code == 0

    again = cli(*RELAY)

    assert again.exit_code == 1
    assert again.stderr == "error: sender account relay already exists in this project\n"


def test_a_password_without_a_master_key_ends_with_the_fix(cli: Cli) -> None:
    result = cli(*LOGIN, "--password-env", "P", env={"P": "hunter2", "MAILQUEUE_MASTER_KEY": None})

    assert result.exit_code == 4
    assert "MAILQUEUE_MASTER_KEY" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_account_is_paused_limited_and_resumed(cli: Cli) -> None:
    cli(*RELAY, "--daily-limit", "10")

    paused = document(cli("sender", "pause", "relay", "--reason", "moving", "--json"))
    limited = document(
        cli(
            "sender", "limits", "relay", "--daily-limit", "none", "--rate-per-second", "3", "--json"
        )
    )
    resumed = document(cli("sender", "resume", "relay", "--json"))

    assert (paused["status"], paused["status_reason"]) == ("paused", "moving")
    assert paused["status_until"] is None
    assert (limited["daily_limit"], limited["rate_limit_per_sec"]) == (None, 3.0)
    assert limited["status"] == "paused"
    assert (resumed["status"], resumed["status_reason"]) == ("active", None)


def test_a_pause_ends_after_a_while_or_at_an_instant(cli: Cli) -> None:
    cli(*RELAY)

    day = datetime.now(UTC).date() + timedelta(days=3_000)
    for until in ("2h", f"{day}T08:00:00+01:00", f"{day} 08:00"):
        paused = document(cli("sender", "pause", "relay", "--until", until, "--json"))

        assert paused["status_until"] is not None
    for until in ("36524d", "9999-12-31T00:00:00+00:00"):
        refused = cli("sender", "pause", "relay", "--until", until)
        assert refused.output == "error: until: must be within ten years from now\n"
    assert cli("sender", "pause", "relay", "--until", "99999999999d").exit_code == 1


def test_a_server_that_is_away_is_one_line_with_the_fix(cli: Cli) -> None:
    url = "postgresql://ann:hunter2@127.0.0.1:1/mailqueue"

    result = cli("sender", "list", env={"MAILQUEUE_DATABASE_URL": url})

    assert result.exit_code == 3
    assert "127.0.0.1:1" in result.stderr
    assert result.stderr.count("\n") == 1
    assert "hunter2" not in result.stderr


def test_a_database_without_our_schema_says_how_to_get_it(cli: Cli, server: Any) -> None:
    result = cli("sender", "list", env={"MAILQUEUE_DATABASE_URL": server.superuser_url("postgres")})

    assert result.exit_code == 4
    assert "mailqueue migrate" in result.stderr
