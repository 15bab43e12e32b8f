"""The schema is migrated while workers run; a release that does not fit says so in one line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from mailqueue.db.migrate import migrate
from mailqueue.db.migrations import read_schema
from mailqueue.db.sql import sql_folder
from mailqueue.settings.environment import DatabaseSettings
from tests.concurrency.running import (
    account_at,
    enqueue,
    messages,
    pids,
    session,
    until_nothing_is_queued,
    workers,
)
from tests.smtp.client.scripted import scripted
from tests.whole.running import eventually, is_running

pytestmark = pytest.mark.anyio
NEXT = """-- 9999_next.sql
ALTER TABLE mailqueue.email_queue ADD COLUMN note text;
ALTER TABLE mailqueue.workers ADD COLUMN note text;
"""
ENDS = (
    ["worker", "send"],
    ["worker", "send", "--processes", "2"],
    ["api", "--port", "0"],
    ["status"],
)


@pytest.fixture
def next_release(tmp_path: Path) -> Path:
    """The SQL of a later release: one more migration, and functions that changed."""
    folder = shutil.copytree(sql_folder(), tmp_path / "sql")
    (folder / "migrations" / "9999_next.sql").write_text(NEXT)
    for path in (folder / "functions").rglob("*.sql"):
        path.write_text(path.read_text("utf-8") + "\n-- changed\n", "utf-8")
    return folder


async def test_workers_run_on_while_and_after_the_schema_is_migrated(
    database: DatabaseSettings, next_release: Path
) -> None:
    """A worker process that dies is restarted as well."""
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        async with workers(database, processes=2) as command:
            first, second = await pids(conn, 2)
            await enqueue(conn, 30)
            await migrate(database, folder=next_release)
            await messages(server, 30)
            os.kill(first, 9)
            eventually(lambda: not is_running(first))
            os.kill(second, 9)
            await enqueue(conn, 30)
            await messages(server, 60)
            assert await until_nothing_is_queued(conn) == {"sent": 60}
            assert await command.stopped() == 0


def started(url: str, words: list[str], data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mailqueue", *words],
        env=os.environ | {"MAILQUEUE_DATABASE_URL": url, "MAILQUEUE_DATA": str(data)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def is_refused(done: subprocess.CompletedProcess[str], line: str) -> bool:
    return (done.returncode, done.stderr, done.stdout) == (4, f"error: {line}\n", "")


@pytest.mark.parametrize("words", ENDS, ids=" ".join)
def test_code_newer_than_the_schema_refuses_in_one_line(
    fresh_db: str, words: list[str], tmp_path: Path
) -> None:
    *_, before, newest = (each.version for each in read_schema(sql_folder()).migrations)
    with psycopg.connect(fresh_db, autocommit=True) as conn:
        conn.execute("SET ROLE mailqueue_owner")
        conn.execute("DELETE FROM mailqueue.schema_migrations WHERE version = %s", (newest,))
        conn.execute("RESET ROLE")

    done = started(fresh_db, words, tmp_path)

    line = (
        f"the database schema is at {before}, this version of mailqueue needs {newest}: "
        "run `mailqueue migrate`"
    )
    assert is_refused(done, line), done


@pytest.mark.parametrize("words", ENDS[::2], ids=" ".join)
def test_code_older_than_the_schema_refuses_to_start_in_one_line(
    fresh_db: str, words: list[str], tmp_path: Path
) -> None:
    newest = read_schema(sql_folder()).newest
    with psycopg.connect(fresh_db, autocommit=True) as conn:
        conn.execute("SET ROLE mailqueue_owner")
        conn.execute(
            "INSERT INTO mailqueue.schema_migrations (version, name, sha256)"
            " VALUES (9999, 'next', '')"
        )
        conn.execute("RESET ROLE")

    done = started(fresh_db, words, tmp_path)

    line = (
        f"the database schema is at 9999, this version of mailqueue knows up to {newest}: "
        "upgrade mailqueue"
    )
    assert is_refused(done, line), done
