"""`up` on an existing PostgreSQL, and its error when that cannot be used."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import Binaries, find_binaries
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.service_user import Account
from mailqueue.settings.environment import DatabaseSettings
from tests.conftest import THROWAWAY
from tests.whole.difficult_mails import inserts, letters, read
from tests.whole.running import Home, eventually, up

pytestmark = pytest.mark.timeout(300)

OWNER = "mail_owner"
EXIT_FAULT, EXIT_UNAVAILABLE, EXIT_CONFIG = 1, 3, 4


def oldest() -> Binaries:
    """Return Debian's PostgreSQL 15 where it is installed, else the wheel's 16."""
    try:
        return find_binaries(15)
    except ConfigError:
        return find_binaries(16)


@pytest.fixture(scope="module")
def elsewhere(reachable_folder: Path, service_user: Account) -> Iterator[str]:
    """The connection string of an existing server."""
    folder = reachable_folder / "elsewhere"
    folder.mkdir()
    folder.chmod(0o755)
    found = oldest()
    if not service_user.can_enter(found.bin / "postgres"):
        found = found.copied(folder / "postgresql")
    cluster = Cluster(folder.resolve(), found, service_user, THROWAWAY)
    cluster.make()
    postmaster, process = cluster.start()
    try:
        superuser = DatabaseSettings(Secret(cluster.superuser_url(postmaster.port)))
        asyncio.run(provision(superuser, role=OWNER, password="secret word", database="mail"))
        yield f"postgresql://{OWNER}:secret%20word@127.0.0.1:{postmaster.port}/mail"
    finally:
        cluster.stop(process)


def named(home: Home, url: str) -> Home:
    return home.with_(MAILQUEUE_DATABASE_URL=url)


def changed(url: str, netloc: tuple[str, str]) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(*netloc)))


def refused(home: Home, *words: str) -> tuple[int, str]:
    """Run `up`, which must fail with a one-line error; return exit code and output."""
    done = home.run("up", "--port", "0", "--trap-port", "0", *words)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.stderr
    return done.returncode, lines[0]


def test_a_server_that_is_named_is_used_and_none_is_started(new_home: Home, elsewhere: str) -> None:
    mails = letters(200, "elsewhere.example")
    with up(named(new_home, elsewhere), "--workers", "1") as running:
        assert running.database == elsewhere
        running.psql(inserts(mails))
        eventually(lambda: running.count_caught("elsewhere.example"), lambda n: n >= len(mails))

        arrived = sorted(map(read, running.caught("elsewhere.example")))
        assert arrived == sorted(mail.arrived() for mail in mails)
        assert running.home.json("verify")["adds_up"]
        assert running.value("SHOW server_version_num")[:2] == str(oldest().major)
        assert running.stop() == 0
    assert not (new_home.data / "pgdata").exists()


def test_a_wrong_password_is_told_from_a_server_that_is_away(
    new_home: Home, elsewhere: str
) -> None:
    wrong = refused(named(new_home, changed(elsewhere, ("secret%20word", "guess%20word"))))
    port = urlsplit(elsewhere).port
    away = refused(named(new_home, changed(elsewhere, (f":{port}", ":1"))))

    assert wrong[0] == away[0] == EXIT_UNAVAILABLE
    assert f'refused the password of user "{OWNER}": correct MAILQUEUE_DATABASE_URL' in wrong[1]
    assert "guess" not in wrong[1]
    assert "PostgreSQL does not answer at 127.0.0.1:1: start it" in away[1]


def test_a_schema_from_a_newer_version_is_left_alone(new_home: Home, elsewhere: str) -> None:
    assert named(new_home, elsewhere).run("migrate").returncode == 0
    applied = "INSERT INTO mailqueue.schema_migrations (version, name, sha256)"
    with psycopg.connect(elsewhere, autocommit=True) as conn:
        conn.execute(f"{applied} VALUES (9999, 'later', sha256('later'))".encode())
        try:
            code, said = refused(named(new_home, elsewhere))
        finally:
            conn.execute(b"DELETE FROM mailqueue.schema_migrations WHERE version = 9999")

    assert code == EXIT_CONFIG
    assert said.endswith(": upgrade mailqueue")


def test_a_folder_that_cannot_be_written_is_named(new_home: Home) -> None:
    new_home.data.write_text("in the way")
    code, said = refused(new_home)

    assert code == EXIT_CONFIG
    assert str(new_home.data) in said
    assert "--data" in said


@pytest.mark.parametrize("option", ["--port", "--trap-port"])
def test_a_port_that_is_taken_is_named_by_its_option(home: Home, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refused(home, option, str(port))

    assert code == EXIT_CONFIG
    assert option in said
    assert str(port) in said


@pytest.mark.parametrize(
    ("name", "value"), [("MAILQUEUE_PORT", "many"), ("MAILQUEUE_WORKERS", "-1")]
)
def test_a_faulty_variable_is_named_with_what_is_allowed(
    new_home: Home, name: str, value: str
) -> None:
    done = new_home.with_(**{name: value}).run("up")

    assert done.returncode == EXIT_CONFIG
    assert done.stderr.startswith(f"error: {name}: must be ")
    assert done.stderr.endswith(f"got '{value}'\n")
    assert not new_home.data.exists()
