"""The private server: killed, found again, without access, moved."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError, Conflict, Unavailable
from mailqueue.db.pool import connect
from mailqueue.embedded.ports import is_free
from mailqueue.embedded.postmaster import running_postmaster
from mailqueue.embedded.server import embedded_server
from mailqueue.embedded.service_user import Account
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource, load_settings
from tests.scratch import lent

pytestmark = pytest.mark.anyio

# Computes for a second or two without looking up to see that its server is gone.
BUSY = "SELECT count(*) FROM generate_series(1, 3000), generate_series(1, 9999) AS n"
RUNNING = "SELECT FROM pg_stat_activity WHERE query ~ '^SELECT count' AND state = 'active'"
# A process of its own that has the folder until it is killed.
HOLDER = """
import asyncio, sys
from pathlib import Path
from mailqueue.embedded.server import embedded_server

async def main():
    async with embedded_server(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def data(reachable_folder: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    with lent(reachable_folder / f"data {request.node.name}") as folder:
        yield folder


async def rows(settings: DatabaseSettings, query: str) -> list[tuple[object, ...]]:
    async with connect(settings) as conn:
        return await (await conn.execute(query.encode())).fetchall()


@contextmanager
def holder(data: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def stranger(account: Account, log: int) -> Iterator[int]:
    """The process id of a program of the server's user that is no server."""
    with account.spawn(["/bin/sleep", "600"], log=log) as process:
        try:
            yield process.pid
        finally:
            process.kill()


async def test_what_was_committed_is_there_after_a_stop_and_on_the_same_port(data: Path) -> None:
    async with embedded_server(data) as first:
        await rows_of_table_made(first.database)
    async with embedded_server(data) as second:
        assert await rows(second.database, "SELECT n FROM t") == [(1,)]

    assert second.port == first.port
    assert running_postmaster(data / "pgdata") is None


async def test_a_server_killed_hard_starts_again_with_every_commit(data: Path) -> None:
    async with embedded_server(data) as first:
        await rows_of_table_made(first.database)
        os.kill(first.pid, signal.SIGKILL)

    async with embedded_server(data) as second:
        assert await rows(second.database, "SELECT n FROM t") == [(1,)]
        assert second.pid != first.pid


async def test_children_that_outlive_a_killed_server_are_waited_for(data: Path) -> None:
    async with embedded_server(data) as first:
        busy = asyncio.create_task(rows(first.database, BUSY))
        while not await rows(first.database, RUNNING):
            assert not busy.done()
        os.kill(first.pid, signal.SIGKILL)

    async with embedded_server(data) as second:
        assert await rows(second.database, "SELECT 1") == [(1,)]

    await asyncio.gather(busy, return_exceptions=True)


async def test_a_server_that_outlived_its_killed_owner_is_taken_over(data: Path) -> None:
    with holder(data) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()

    async with embedded_server(data) as server:
        assert (server.pid, server.was_running) == (pid, True)
        assert await rows(server.database, "SELECT 1") == [(1,)]

    assert running_postmaster(data / "pgdata") is None


async def test_a_folder_is_had_by_one_at_a_time(data: Path) -> None:
    with holder(data) as process:
        assert process.stdout is not None
        process.stdout.readline()

        with pytest.raises(Conflict, match=rf"already running on .* \(pid {process.pid}\)"):
            async with embedded_server(data):
                pass

    async with embedded_server(data) as server:
        assert server.was_running


async def test_a_stale_pid_file_with_a_number_in_use_again_is_no_obstacle(
    data: Path, service_user: Account
) -> None:
    """After a restart of the machine, another program of the same user may have the process id."""
    async with embedded_server(data):
        lines = (data / "pgdata" / "postmaster.pid").read_text().splitlines()
    stale = data / "pgdata" / "postmaster.pid"
    with (data / "sleep.log").open("w") as log, stranger(service_user, log.fileno()) as pid:
        stale.write_text("\n".join([str(pid), *lines[1:]]) + "\n")
        service_user.own(stale)

        async with embedded_server(data) as server:
            assert not server.was_running


async def test_a_port_used_by_another_program_is_left_to_it(data: Path) -> None:
    async with embedded_server(data) as first:
        pass
    listener = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", first.port)

    async with listener, embedded_server(data) as second:
        assert second.port != first.port
        assert await rows(second.database, "SELECT 1") == [(1,)]


async def test_a_cluster_killed_in_the_making_is_made_anew(data: Path) -> None:
    half = data / "pgdata.new"
    half.mkdir(parents=True)
    for folder in (data, half):
        folder.chmod(0o755)
    (half / "PG_VERSION").write_text("18\n")

    async with embedded_server(data) as server:
        assert await rows(server.database, "SELECT 1") == [(1,)]


async def test_the_login_role_may_make_roles_but_is_no_superuser(data: Path) -> None:
    async with embedded_server(data) as server:
        powers = "SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = user"
        assert await rows(server.database, powers) == [(False, True, False)]
        assert await rows(server.database, "SHOW fsync") == [("on",)]
        assert await rows(server.database, "SHOW listen_addresses") == [("127.0.0.1",)]
        assert await rows(server.database, "SHOW server_encoding") == [("UTF8",)]


async def test_other_commands_find_the_running_server_by_the_folder(data: Path) -> None:
    async with embedded_server(data):
        settings = load_settings(data=data)
        assert settings.database.source is DatabaseSource.EMBEDDED
        assert await rows(settings.database, "SELECT current_user::text") == [("mailqueue",)]

    with pytest.raises(Unavailable, match="start it with `mailqueue up`"):
        await rows(settings.database, "SELECT 1")


async def test_secrets_in_the_folder_are_ours_alone(data: Path) -> None:
    async with embedded_server(data):
        pass

    for name in ("database_url", "password", "superuser_password"):
        assert stat.S_IMODE((data / name).stat().st_mode) == 0o600
    assert not (data / ".initdb").exists()


async def test_a_password_is_needed_on_loopback_too(data: Path) -> None:
    async with embedded_server(data) as server:
        password = (data / "password").read_text().strip()
        url = server.database.url.reveal()
        wrong = load_settings(data=data, database_url=url.replace(password, "x"))
        with pytest.raises(Unavailable, match='refused the password of user "mailqueue"'):
            await rows(wrong.database, "SELECT 1")


async def test_variables_of_the_caller_do_not_reach_the_server(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "1", "PGDATA": "/nowhere", "LC_ALL": "de_DE"}.items():
        monkeypatch.setitem(os.environ, name, value)

    async with embedded_server(data) as server:
        assert not is_free(server.port)


async def test_a_data_folder_that_is_a_file_is_refused_with_the_fix(
    reachable_folder: Path,
) -> None:
    file = reachable_folder / "a file"
    file.touch()

    for data in (file, file / "below"):
        with pytest.raises(ConfigError, match="choose another with --data or MAILQUEUE_DATA"):
            async with embedded_server(data):
                pass


async def rows_of_table_made(settings: DatabaseSettings) -> None:
    async with connect(settings) as conn:
        await conn.execute("CREATE TABLE t AS SELECT 1 AS n")
