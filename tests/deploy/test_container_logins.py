"""Every service of the compose file runs with its own login, and none is a superuser."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from mailqueue.core.services.model import ServiceLogin
from mailqueue.core.services.registry import SERVICES
from mailqueue.embedded.binaries import find_binaries
from mailqueue.smtp.server.self_signed import keep_certificate
from tests.conftest import Server
from tests.deploy.test_containers import ours
from tests.rules.source import ROOT

SCRIPT = ROOT / "docs" / "samples" / "compose" / "create_logins.sh"
LOGINS = tuple(ServiceLogin)
SECONDS = 60


@pytest.fixture(scope="module")
def database(
    server: Server, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A database as the image makes it: the script has run, and the service `migrate`.

    `migrated` comes first: roles that a superuser made are not those of the other tests' user.
    """
    name = "mailqueue_compose"
    at = urlsplit(server.superuser)
    tools = find_binaries().bin
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PGHOST": at.hostname or "",
        "PGPORT": str(at.port),
        "PGPASSWORD": at.password or "",
        "POSTGRES_USER": at.username or "",
        "POSTGRES_DB": name,
        **{f"{login.upper()}_PASSWORD": login for login in LOGINS},
    }
    with psycopg.connect(server.superuser, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
        try:
            subprocess.run([SCRIPT], env=environment, check=True, timeout=SECONDS)
            url = f"{{}}@{at.hostname}:{at.port}/{name}"
            data = tmp_path_factory.mktemp("data")
            done = run("migrate", url, data, ["migrate"])
            assert done.returncode == 0, done.stderr
            yield url
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
            for login in LOGINS:
                admin.execute(f"DROP ROLE IF EXISTS {login}".encode())


def environment_of(service: dict[str, Any], url: str, data: Path) -> dict[str, str]:
    login = urlsplit(service["environment"]["MAILQUEUE_DATABASE_URL"]).username
    certificate = data / "submission.pem"
    keep_certificate(certificate)
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "MAILQUEUE_DATABASE_URL": f"postgresql://{login}:{url.format(login)}",
        "MAILQUEUE_DATA": str(data),
        "MAILQUEUE_MASTER_KEY": "A" * 43 + "=",
        "MAILQUEUE_PORT": "0",
        "MAILQUEUE_NO_TRAP": "true",
        "MAILQUEUE_SUBMISSION_CERTIFICATE": str(certificate),
        "MAILQUEUE_ARCHIVE": str(data / "archive"),
        "MAILQUEUE_RABBITMQ_URL": "amqp://127.0.0.1:1/",  # it is ready without its broker too
        "MAILQUEUE_RABBITMQ_QUEUES": "mailqueue=default",
        "MAILQUEUE_TRACES_URL": "http://127.0.0.1:1/v1/traces",  # and without its collector
    }


def run(name: str, url: str, data: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mailqueue", *words],
        env=environment_of(ours()[name], url, data),
        capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip


def free_ports(words: list[str]) -> list[str]:
    """Let a command of the compose file listen on a free port, on this machine only."""
    return ["0" if word.isdecimal() and len(word) > 1 else word for word in words]


def lasting() -> list[str]:
    return sorted(one.container for one in SERVICES if one.container is not None)


@pytest.mark.parametrize("name", lasting())
def test_a_part_gets_ready_with_its_own_login(name: str, database: str, tmp_path: Path) -> None:
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.bind(str(tmp_path / "told"))
    told.settimeout(SECONDS)
    service = ours()[name]
    log = tmp_path / "log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "mailqueue", *free_ports(service["command"])],
            env=environment_of(service, database, tmp_path)
            | {"NOTIFY_SOCKET": str(tmp_path / "told")},
            stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
        )  # fmt: skip
    try:
        assert b"READY=1" in told.recv(1000)
    except TimeoutError:
        pytest.fail(log.read_text())
    finally:
        process.terminate()
        assert process.wait(SECONDS) == 0, log.read_text()
        told.close()
    assert "denied" not in log.read_text()


def test_the_login_of_upkeep_may_run_maintenance(
    database: str, server: Server, tmp_path: Path
) -> None:
    service = ours()["upkeep"]
    admin = psycopg.connect(server.superuser, dbname="mailqueue_compose", autocommit=True)
    admin.execute("UPDATE mailqueue.maintenance_tasks SET run_at = now() WHERE task = 'counters'")
    process = subprocess.Popen(
        [sys.executable, "-m", "mailqueue", *service["command"]],
        env=environment_of(service, database, tmp_path),
        stdin=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + SECONDS
        query = (
            "SELECT last_run_at, last_error FROM mailqueue.maintenance_tasks"
            " WHERE task = 'counters'"
        )
        row = None
        while row is None or row[0] is None:
            row = admin.execute(query).fetchone()
            assert time.monotonic() < end, row
            time.sleep(0.2)
    finally:
        process.terminate()
        assert process.wait(SECONDS) == 0
        admin.close()


def test_no_part_is_a_superuser(database: str, server: Server) -> None:
    used = {urlsplit(s["environment"]["MAILQUEUE_DATABASE_URL"]).username for s in ours().values()}
    with psycopg.connect(server.superuser) as admin:
        mighty = admin.execute(
            "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)"
            " AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication)",
            (list(used),),
        ).fetchall()

    assert used == set(LOGINS)
    assert mighty == []
