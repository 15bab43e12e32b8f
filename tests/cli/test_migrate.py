"""`mailqueue migrate`: applies migrations, shows the version, can run again."""

import json

import psycopg
from click.testing import CliRunner, Result

from mailqueue.cli.main import main


def migrate(dsn: str, *arguments: str) -> Result:
    runner = CliRunner(env={"MAILQUEUE_DATABASE_URL": dsn})
    return runner.invoke(main, ["migrate", *arguments])


def test_a_migrated_database_is_told_to_be_current(fresh_db: str) -> None:
    status = migrate(fresh_db, "--status", "--json")

    assert status.exit_code == 0, status.output
    found = json.loads(status.stdout)
    assert found["is_current"] is True
    assert found["pending"] == []
    assert found["version"] == found["newest_known"] == found["applied"][-1]["version"]


def test_migrating_again_changes_nothing(fresh_db: str) -> None:
    again = migrate(fresh_db, "--json")

    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["migrations"] == []


def test_what_is_pending_ends_the_status_with_1(fresh_db: str) -> None:
    with psycopg.connect(fresh_db, autocommit=True) as conn:
        conn.execute("SET ROLE mailqueue_owner")
        conn.execute("DELETE FROM mailqueue.schema_objects")

    status = migrate(fresh_db, "--status")

    assert status.exit_code == 1
    assert "to be re-applied" in status.output
    assert migrate(fresh_db).exit_code == 0
    assert migrate(fresh_db, "--status").exit_code == 0


def test_a_server_that_is_away_is_one_line() -> None:
    result = migrate("postgresql://ann:hunter2@127.0.0.1:1/mailqueue", "--status")

    assert result.exit_code == 3
    assert result.stderr.count("\n") == 1
    assert "hunter2" not in result.output
