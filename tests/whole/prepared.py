"""A data folder whose PostgreSQL is migrated, made once in a run and copied for each test."""

import asyncio
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mailqueue.db.migrate import migrate
from mailqueue.embedded.server import embedded_server
from mailqueue.embedded.service_user import Account

_OF_ITS_START = ("database_url", "up.lock", "pgdata/postmaster.opts", "postgresql.log")
"""What its start left; a copy would look for the port of the other."""


@contextmanager
def prepared(made_in: Path, shared: Path) -> Iterator[Path]:
    """Yield a migrated data folder, which is not to be started but copied.

    `made_in` is a folder that the user of the server can enter. Processes of a run that name the
    same folder `shared` make one for all; the last that is done with it deletes it.
    """
    shared.mkdir(exist_ok=True)
    folder = shared / "data"
    with (shared / "users").open("a") as users:
        with _alone(shared):
            if not folder.exists():
                _make(made_in / "prepared", folder)
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield folder
        finally:
            with _alone(shared):
                _delete_if_unused(users.fileno(), folder)


@contextmanager
def _alone(shared: Path) -> Iterator[None]:
    """Let one process at a time make or delete the folder."""
    with (shared / "changing").open("a") as changing:
        fcntl.flock(changing, fcntl.LOCK_EX)
        yield


def copied(source: Path, target: Path, account: Account) -> None:
    """Copy a prepared data folder to one that does not exist, for `up` as this user.

    `account` is the user of its server.
    """
    subprocess.run(["cp", "-a", source, target], check=True)
    assert (target / "pgdata").stat().st_uid == account.uid


def _make(own: Path, folder: Path) -> None:
    async def start() -> None:
        async with embedded_server(own) as server:
            await migrate(server.database)

    asyncio.run(start())
    for name in _OF_ITS_START:
        (own / name).unlink()
    shutil.rmtree(folder.with_name("unfinished"), ignore_errors=True)
    moved = shutil.move(own, folder.with_name("unfinished"))
    os.rename(moved, folder)


def _delete_if_unused(users: int, folder: Path) -> None:
    """Delete the folder if no other process uses it."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    shutil.rmtree(folder)
