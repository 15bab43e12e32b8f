"""A run over a long list is made in parts that go on where a worker died, in bounded memory.

However often workers are killed: deaths count from the last part that was made.
"""

import signal
from pathlib import Path
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.pools import deaths, end, pool_of, prepare, processes, until
from tests.schedules import turning

pytestmark = pytest.mark.anyio
MAX_MEMORY_MB = 300
"""Most memory of a worker at any time, whatever the length of the list."""
ADD_CONTACTS = """
    WITH added AS (
        INSERT INTO mailqueue.contacts (project_id, email, email_key, first_name, created_at)
        SELECT p.id, 'n' || n || '@example.com', 'n' || n || '@example.com', 'N' || n,
               now() - interval '1 day'
          FROM mailqueue.projects AS p, generate_series(1, %s::integer) AS n
         WHERE p.name = 'default' RETURNING id, project_id
    ), listed AS (
        INSERT INTO mailqueue.contact_lists (project_id, name, created_by)
        SELECT id, 'everyone', 'tests' FROM mailqueue.projects WHERE name = 'default' RETURNING id
    )
    INSERT INTO mailqueue.contact_list_members (list_id, contact_id, project_id, created_at)
    SELECT l.id, a.id, a.project_id, now() - interval '1 day' FROM added AS a, listed AS l
"""
BOOKS = """
    SELECT (SELECT count(*) FROM mailqueue.email_queue),
           (SELECT count(DISTINCT recipient_email) FROM mailqueue.email_queue),
           (SELECT count(*) FROM mailqueue.schedule_recipients WHERE status = 'queued'),
           (SELECT sum(cardinality(email_ids)) FROM mailqueue.batches),
           (SELECT count(DISTINCT i) FROM mailqueue.batches AS b, unnest(b.email_ids) AS i)
"""


@pytest.mark.parametrize(
    ("contacts", "kills"),
    [
        pytest.param(4_000, 4, id="short"),
        pytest.param(1_000_000, 10, id="long", marks=[pytest.mark.soak, pytest.mark.timeout(7200)]),
    ],
)
async def test_each_contact_gets_one_mail_of_the_run_although_its_worker_is_killed(
    contacts: int,
    kills: int,
    database: DatabaseSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare(monkeypatch, database, tmp_path)
    async with connect(database) as conn:
        await conn.execute(ADD_CONTACTS, [contacts])
        await conn.execute("ANALYZE mailqueue.contacts, mailqueue.contact_list_members")
        made = await turning.put(
            conn,
            schedule_type="cron",
            cron_expression="0 9 1 1 *",
            payload=turning.RAW | {"to": ["everyone"]},
        )
        project = await make.project_named(conn)
        await make.rows(conn, "SELECT mailqueue.run_schedule(%s, %s)", project, made)
        memory = 0
        async with pool_of(["schedule-runs"], tmp_path):
            for number in range(1, kills + 1):
                memory = max(memory, await _made(conn, made, contacts * number // (kills + 2)))
                for pid in await processes(conn):
                    end(pid, signal.SIGKILL)
            memory = max(memory, await _made(conn, made, contacts))
            await until(lambda: _is_over(conn, made), lambda: turning.runs_of(conn, made))

        (run,) = await turning.runs_of(conn, made)
        assert (run["status"], run["queued"]) == ("done", contacts)
        assert await make.rows(conn, BOOKS) == [(contacts,) * 5]
        assert await deaths(conn) >= kills
        assert memory < MAX_MEMORY_MB


async def _made(conn: Conn, schedule: Any, count: int) -> int:
    """Wait until that many mails of a run are made; return the most memory of a worker in MB."""
    most = 0

    async def is_made() -> bool:
        nonlocal most
        most = max(most, *(_peak_mb(pid) for pid in await processes(conn)), 0)
        return bool((await turning.runs_of(conn, schedule))[0]["queued"] >= count)

    await until(is_made, lambda: turning.runs_of(conn, schedule), seconds=120 + count / 100)
    return most


async def _is_over(conn: Conn, schedule: Any) -> bool:
    return bool((await turning.runs_of(conn, schedule))[0]["status"] == "done")


def _peak_mb(pid: int) -> int:
    """Return the most memory that a process has had; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), 0)
