"""A PostgreSQL as Debian's packages install it: its programs, its files, no setting changed."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from mailqueue.embedded.binaries import MIN_VERSION
from mailqueue.embedded.folder import write_private
from mailqueue.embedded.ports import HOST, free_port
from mailqueue.embedded.service_user import Account

SUPERUSER = "postgres"
PACKAGES = Path("/usr/lib/postgresql")
_CREATE = "pg_createcluster"
_CLUSTER = "stock"
_PASSWORD = "secret"
_PATIENCE_SECONDS = 60.0


def lacks_debian_server() -> str | None:
    """Return why no server of Debian's packages can run here."""
    if shutil.which(_CREATE) is None:
        return "no pg_createcluster of Debian's here"
    return None if _versions() else "no PostgreSQL of Debian's packages here"


@contextmanager
def debian_server(home: Path, account: Account) -> Iterator[str]:
    """Run the oldest server installed; yield the connection string of its superuser."""
    version, port = str(_versions()[0]), free_port()
    home.mkdir()
    account.own(home)
    _create(home, version, port, account)
    program = str(PACKAGES / version / "bin" / "postgres")
    settings = home / "etc" / version / _CLUSTER / "postgresql.conf"
    log = home / "postgresql.log"
    with log.open("wb") as written:
        command = [program, "-D", str(home / "data"), "-c", f"config_file={settings}"]
        process = account.spawn(command, log=written.fileno())
        try:
            url = f"postgresql://{SUPERUSER}:{_PASSWORD}@{HOST}:{port}/postgres"
            _await(url, log)
            yield url
        finally:
            process.terminate()
            process.wait()


def _versions() -> list[int]:
    """Return the installed major versions; before 18 a disabled plan has the highest cost."""
    found = (path.parts[-3] for path in PACKAGES.glob("*/bin/postgres"))
    return sorted(int(each) for each in found if each.isdigit() and int(each) >= MIN_VERSION)


def _create(home: Path, version: str, port: int, account: Account) -> None:
    password = home / "password"
    write_private(password, _PASSWORD)
    account.own(password)
    places = ["--datadir", str(home / "data"), "--logfile", str(home / "log"), "-s", str(home)]
    initdb = ["--auth-host=scram-sha-256", f"--pwfile={password}", f"--username={SUPERUSER}"]
    variables = [f"PG_CLUSTER_CONF_ROOT={home / 'etc'}", "LC_ALL=C.UTF-8"]
    create = [_CREATE, *places, "--port", str(port), version, _CLUSTER, "--", *initdb]
    done = account.run(["/usr/bin/env", *variables, *create])
    assert done.returncode == 0, done.stderr


def _await(url: str, log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
