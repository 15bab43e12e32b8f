"""Measures timed events: what those cost that are due next month, and birthdays due in one minute.

The worker is the shipped process. Birthdays are planned by the trigger on contacts and made due;
the clock stops when each is queued mail, with the next year's in the same transactions.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click
import uvloop

from bench.cpu import peak_mb, spending
from bench.mails import add_account
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from bench.workers import Workers, environment
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings

IDLE_SECONDS = 30.0
TEMPLATE = """
    SELECT mailqueue.publish_template(mailqueue.add_template_version(
        mailqueue.add_template(p.id, '{"slug": "birthday", "name": "Birthday"}', 'bench'),
        '{"texts": [{"language": "en", "subject": "Happy birthday", "needs": ["contact"],
                     "text_body": "Dear {{ contact.first_name }}"}]}', 'bench'))
      FROM mailqueue.projects AS p WHERE p.name = 'default'
"""
AHEAD = """
    INSERT INTO mailqueue.timed_events (project_id, kind, local_at, time_zone, zone_release, due_at,
        run_at, idempotency_key, template, recipient, created_by)
    SELECT p.id, 'renewal', d.at AT TIME ZONE 'UTC', 'UTC', mailqueue.time_zone_release(), d.at,
           d.at, n::text, 'birthday', 'person' || n || '@example.com', 'bench'
      FROM mailqueue.projects AS p, generate_series(1, %s) AS n,
           LATERAL (SELECT now() + interval '30 days' + n * interval '1 s' AS at) AS d
     WHERE p.name = 'default'
"""
RULE = """
    SELECT mailqueue.put_birthday_rule(p.id, '09:00', 'march_1', 'birthday', NULL, '{}', 'bench')
      FROM mailqueue.projects AS p WHERE p.name = 'default'
"""
CONTACTS = """
    INSERT INTO mailqueue.contacts (project_id, email, email_key, first_name, time_zone,
        date_of_birth)
    SELECT p.id, e.address, e.address, 'Ann', 'Europe/Berlin', '1988-02-29'
      FROM mailqueue.projects AS p, generate_series(1, %s) AS n,
           LATERAL (SELECT 'b' || n || '@example.com' AS address) AS e
     WHERE p.name = 'default'
"""
DUE = "UPDATE mailqueue.timed_events SET run_at = now() WHERE is_birthday AND status = 'pending'"
OVER = """
    SELECT count(*) = %s FROM mailqueue.timed_events WHERE is_birthday AND status = 'completed'
"""


@asynccontextmanager
async def worker(
    database: DatabaseSettings, count: int, *, queue: str = "timed-events"
) -> AsyncIterator[list[Workers]]:
    """Run workers of a queue; yield them."""
    with tempfile.TemporaryDirectory() as folder:
        command = (sys.executable, "-m", "mailqueue", "worker", queue)
        given = environment(database, folder)
        started = [
            Workers(await asyncio.create_subprocess_exec(*command, env=given)) for _ in range(count)
        ]
        try:
            yield started
        finally:
            for one in started:
                one.process.terminate()
            await asyncio.gather(*(one.process.wait() for one in started))


async def idle(server: Server, name: str, database: DatabaseSettings) -> dict[str, float]:
    """Return the share of a core that a worker without due events costs, itself and the server."""
    async with worker(database, 1) as (one,):
        await asyncio.sleep(5)
        await settle_down(server, name)
        with spending({"postgres": server.pid, "worker": one.pid}) as spent:
            await asyncio.sleep(IDLE_SECONDS)
    return {f"{name} % of a core": 100 * s / IDLE_SECONDS for name, s in spent.seconds.items()}


async def birthdays(
    server: Server, name: str, conn: Conn, database: DatabaseSettings, *, count: int, workers: int
) -> dict[str, float]:
    """Return how fast birthdays that are due at once become queued mail."""
    await conn.execute(RULE)
    begun = time.monotonic()
    await conn.execute(CONTACTS, (count,))
    planned = time.monotonic() - begun
    await conn.execute(DUE)
    await conn.execute("VACUUM ANALYZE mailqueue.timed_events")
    await settle_down(server, name)
    async with worker(database, workers) as running:
        with spending({"postgres": server.pid, "worker": running[0].pid}) as spent:
            begun = time.monotonic()
            await running[0].until(conn, OVER, count)
            seconds = time.monotonic() - begun
        memory = peak_mb(running[0].pid)
    return {
        "contacts planned/s": count / planned,
        "birthdays/s": count / seconds,
        **{f"{name} µs": 1e6 * s / count for name, s in spent.seconds.items()},
        "worker MB": memory,
    }


async def measure(ahead: int, count: int, workers: int, path: Path | None) -> None:
    """Run both cases in one database, without events ahead and with them."""
    async with own_server() as server:
        report = Report("timed events", {**server.settings, "ahead": ahead, "count": count})
        database = await make_database(server, "timed")
        async with connect(database, application_name="bench") as conn:
            await add_account(conn, 25)  # paused: mail waits
            await conn.execute(TEMPLATE)
            report.add("idle, no events", await idle(server, "timed", database))
            await conn.execute(AHEAD, (ahead,))
            await conn.execute("VACUUM ANALYZE mailqueue.timed_events")
            report.add(f"idle, {ahead:,} ahead", await idle(server, "timed", database))
            found = await birthdays(server, "timed", conn, database, count=count, workers=workers)
            report.add(f"{count:,} birthdays, {workers} workers", found)
    report.print()
    report.write(path)


@click.command()
@click.option("--ahead", type=int, default=1_000_000, show_default=True, help="Events next month.")
@click.option(
    "--count", type=int, default=100_000, show_default=True, help="Birthdays due at once."
)
@click.option("--workers", type=int, default=1, show_default=True, help="Worker processes.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
def main(*, ahead: int, count: int, workers: int, path: Path | None) -> None:
    """Measure timed events that lie ahead, and birthdays that are due."""
    uvloop.run(measure(ahead, count, workers, path))


if __name__ == "__main__":
    main()
