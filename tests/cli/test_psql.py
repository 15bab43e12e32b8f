"""`mailqueue psql`: the right program and database, no password in its arguments."""

import os
import subprocess
import sys
from pathlib import Path

from mailqueue.cli.psql import arguments, environment, find_psql, in_public
from mailqueue.core.secret import Secret
from mailqueue.db.libpq import libpq_options
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource

ROOT = Path(__file__).parents[2]


def psql(dsn: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mailqueue", "psql", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env=os.environ | {"MAILQUEUE_DATABASE_URL": dsn},
    )


def test_psql_runs_on_the_database_and_its_exit_code_is_ours(fresh_db: str) -> None:
    done = psql(fresh_db, "-XAtc", "SELECT current_database()")
    failed = psql(fresh_db, "-XAtc", "SELEC")

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == fresh_db.rpartition("/")[2]
    assert failed.returncode == 1


def test_psql_runs_where_the_path_has_none(fresh_db: str, tmp_path: Path) -> None:
    """A machine with nothing but Python."""
    done = subprocess.run(
        [sys.executable, "-m", "mailqueue", "psql", "-XAtc", "SELECT 1"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={"PATH": str(tmp_path), "MAILQUEUE_DATABASE_URL": fresh_db},
    )

    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr


def test_psqls_own_short_options_reach_psql(fresh_db: str) -> None:
    done = psql(fresh_db, "-h", "127.0.0.1", "-XAtc", "SELECT 1")

    assert done.stdout == "1\n"


def test_the_password_is_in_no_argument() -> None:
    settings = DatabaseSettings(
        Secret("postgresql://ann:hunter2@db.example.com:6000/mail?keepalives=0&sslpassword=hunter3")
    )

    found = libpq_options(settings)

    assert arguments(Path("/bin/psql"), found, ("-c", "SELECT 1")) == [
        "/bin/psql", "--dbname", "keepalives=0", "-c", "SELECT 1",
    ]  # fmt: skip
    assert found.environment == {
        "PGHOST": "db.example.com",
        "PGPORT": "6000",
        "PGUSER": "ann",
        "PGPASSWORD": "hunter2",
        "PGDATABASE": "mail",
    }
    assert "hunter" not in repr(found)


def test_without_a_string_of_its_own_libpqs_variables_decide() -> None:
    found = libpq_options(DatabaseSettings(Secret(""), DatabaseSource.LIBPQ))

    assert arguments(Path("/bin/psql"), found, ()) == ["/bin/psql"]
    assert environment(found, {"PGHOST": "db.example.com"}) == {"PGHOST": "db.example.com"}


def test_our_secrets_are_not_handed_on() -> None:
    found = libpq_options(DatabaseSettings(Secret("postgresql://ann@db.example.com/mail")))
    own = {"MAILQUEUE_MASTER_KEY": "k", "DATABASE_URL": "postgresql://x", "TERM": "xterm"}

    assert environment(found, own) == {
        "TERM": "xterm", "PGHOST": "db.example.com", "PGUSER": "ann", "PGDATABASE": "mail",
    }  # fmt: skip


def test_a_search_path_of_ones_own_takes_precedence() -> None:
    assert in_public({"TERM": "xterm"}) == {
        "TERM": "xterm", "PGOPTIONS": "-c search_path=public",
    }  # fmt: skip
    assert in_public({"PGOPTIONS": "-c search_path=shop"}) == {
        "PGOPTIONS": "-c search_path=public -c search_path=shop"
    }


def test_a_psql_is_found() -> None:
    assert find_psql().is_file()


def test_no_database_named_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mailqueue", "psql"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env=os.environ | {"MAILQUEUE_DATA": str(tmp_path)},
    )

    assert done.returncode == 4
    assert done.stderr.startswith("error: no database is configured")
