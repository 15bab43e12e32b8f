"""A program prints the password of each new connection."""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from psycopg import sql

from mailqueue.core.errors import Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.libpq import libpq_options
from mailqueue.db.pool import connect, open_pool
from mailqueue.settings.commands import SecretCommand
from mailqueue.settings.environment import DatabaseSettings

pytestmark = pytest.mark.anyio

FIRST, SECOND = "first it's \\ %40", "second"
PRINTS = """
import os, sys
folder = sys.argv[1]
with open(folder + "/runs", "a") as runs:
    print(os.environ["PGHOST"], os.environ["PGUSER"], os.environ["PGDATABASE"], file=runs)
print(open(folder + "/password").read())
"""


class Login:
    """A login whose password is in a file, from which a program prints it."""

    def __init__(self, admin: Conn, url: str, folder: Path, name: str) -> None:
        self.admin, self.folder, self.name = admin, folder, name
        parts = urlsplit(url)
        place = f"{parts.hostname}:{parts.port}{parts.path}"
        command = SecretCommand(
            "DATABASE_PASSWORD_COMMAND", (sys.executable, "-c", PRINTS, str(folder))
        )
        self.settings = DatabaseSettings(
            Secret(f"postgresql://{name}@{place}"), pool_max=4, password_command=command
        )
        self.expected = f"{parts.hostname} {name} {parts.path[1:]}"

    async def change_password(self, password: str, *, in_file: str | None = None) -> None:
        await self.admin.execute(
            sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                sql.Identifier(self.name), sql.Literal(password)
            )
        )
        (self.folder / "password").write_text(in_file or password)

    def runs(self) -> list[str]:
        return (self.folder / "runs").read_text().splitlines()


@pytest.fixture
async def login(fresh_db: str, tmp_path: Path) -> AsyncIterator[Login]:
    name = f"tokens_{os.getpid()}"
    async with connect(DatabaseSettings(Secret(fresh_db))) as admin:
        await admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        try:
            found = Login(admin, fresh_db, tmp_path, name)
            await found.change_password(FIRST)
            yield found
        finally:
            await admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


async def user_of(conn: Conn) -> str:
    return str((await (await conn.execute("SELECT session_user")).fetchone() or ("",))[0])


async def test_a_connection_has_the_password_that_is_printed_for_its_address(login: Login) -> None:
    async with connect(login.settings) as conn:
        assert await user_of(conn) == login.name

    assert login.runs() == [login.expected]


async def test_a_changed_password_is_printed_for_the_next_connection_and_drops_none(
    login: Login,
) -> None:
    async with open_pool(login.settings) as pool, pool.connection() as one:
        await login.change_password(SECOND)
        async with pool.connection() as two, connect(login.settings) as three:
            pids = {conn.info.backend_pid for conn in (one, two, three)}
            assert len(pids) == 3
            assert [await user_of(conn) for conn in (one, two, three)] == [login.name] * 3


async def test_connections_that_are_opened_together_share_a_password(login: Login) -> None:
    async def one() -> None:
        async with connect(login.settings) as conn:
            await user_of(conn)

    await asyncio.gather(*(one() for _ in range(6)))

    assert len(login.runs()) == 1


async def test_a_password_that_is_refused_is_not_printed_again_and_again(login: Login) -> None:
    await login.change_password(SECOND, in_file=FIRST)

    for _ in range(4):
        with pytest.raises(Unavailable, match="refused the password") as raised:
            async with connect(login.settings):
                pass
        assert FIRST not in str(raised.value)

    assert len(login.runs()) == 2


async def test_a_program_that_fails_is_an_error_that_passes(login: Login) -> None:
    failing = SecretCommand("DATABASE_PASSWORD_COMMAND", ("sh", "-c", "echo hidden >&2; exit 3"))

    with pytest.raises(Unavailable, match="PASSWORD_COMMAND: ended with exit code 3") as raised:
        async with connect(replace(login.settings, password_command=failing)):
            pass

    assert "hidden" not in str(raised.value)


async def test_the_direct_connection_and_the_standby_have_their_own_passwords(
    login: Login,
) -> None:
    settings = replace(login.settings, direct=login.settings.url, replica=login.settings.url)
    assert settings.for_reports is not None

    for one in (settings.for_sessions, settings.for_reports):
        assert one.password_command == settings.password_command


async def test_psql_has_the_password_in_its_environment_alone(login: Login) -> None:
    found = libpq_options(login.settings)

    assert found.environment["PGPASSWORD"] == FIRST
    assert shlex.quote(FIRST) not in found.conninfo
