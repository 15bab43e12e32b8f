"""Debian's PgBouncer in transaction mode before a server of the tests."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from mailqueue.embedded.ports import free_port
from mailqueue.embedded.service_user import Account

PGBOUNCER = Path("/usr/sbin/pgbouncer")
_PATIENCE_SECONDS = 30.0
_SETTINGS = """
[databases]
* = host=127.0.0.1 port={server} auth_user={user}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
pool_mode = transaction
auth_type = scram-sha-256
auth_file = {folder}/users
auth_query = SELECT usename, passwd FROM pg_shadow WHERE usename = $1
max_client_conn = 1000
default_pool_size = 20
server_idle_timeout = 10
server_login_retry = 0
log_connections = 0
log_disconnections = 0
"""


def lacks_pgbouncer() -> str | None:
    """Return why no pooler can be run here."""
    return None if PGBOUNCER.exists() else "no pgbouncer here"


@contextmanager
def bouncing(superuser: str, folder: Path, account: Account) -> Iterator[int]:
    """Run a pooler before the server of a superuser's connection string; yield its port.

    Every user the server knows may log in, with the password it has there.
    """
    parts = urlsplit(superuser)
    folder.mkdir()
    port = free_port()
    settings = _SETTINGS.format(server=parts.port, user=parts.username, port=port, folder=folder)
    (folder / "pgbouncer.ini").write_text(settings)
    (folder / "users").write_text(f'"{parts.username}" "{parts.password}"\n')
    for path in (folder, *folder.iterdir()):
        account.own(path)
    with (folder / "log").open("wb") as log:
        process = account.spawn([str(PGBOUNCER), str(folder / "pgbouncer.ini")], log=log.fileno())
        try:
            _await(port, process, folder / "log")
            yield port
        finally:
            process.kill()
            process.wait()


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"pgbouncer did not start:\n{log.read_text()}")
        time.sleep(0.02)
