"""Measures drips: enrollments whose step is due in one minute become queued mail.

The worker is the shipped process. All are enrolled in one sequence of a project; the clock stops
when each has its mail and waits for the step after it.
"""

import time
from pathlib import Path

import click
import uvloop

from bench.cpu import peak_mb, spending
from bench.mails import add_account
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from bench.timed_events import TEMPLATE, worker
from mailqueue.db.pool import connect

SEQUENCE = """
    SELECT mailqueue.put_sequence(p.id, 'welcome', '{"steps": [
               {"name": "hello", "template": "birthday"},
               {"name": "tips", "template": "birthday", "delay": "2d", "at": "09:00"}]}',
               true, 'bench')
      FROM mailqueue.projects AS p WHERE p.name = 'default'
"""
ADDRESS = "UPDATE mailqueue.projects SET postal_address = '1 Main Street' WHERE name = 'default'"
PUBLISH = """
    SELECT mailqueue.publish_sequence(p.id, 'welcome', 'bench') FROM mailqueue.projects AS p
     WHERE p.name = 'default'
"""
CONTACTS = """
    INSERT INTO mailqueue.contacts (project_id, email, email_key, first_name, time_zone)
    SELECT p.id, e.address, e.address, 'Ann', 'Europe/Berlin'
      FROM mailqueue.projects AS p, generate_series(1, %s) AS n,
           LATERAL (SELECT 'd' || n || '@example.com' AS address) AS e
     WHERE p.name = 'default'
"""
ENROLL = """
    SELECT count(mailqueue.enroll_contact(c.project_id, 'welcome', c.id, '{}', false, 'bench'))
      FROM mailqueue.contacts AS c
"""
OVER = "SELECT count(*) = %s FROM mailqueue.enrollment_steps"
MAIL = "SELECT count(*) FROM mailqueue.email_queue"


async def steps(server: Server, name: str, *, count: int, workers: int) -> dict[str, float]:
    """Return how fast first steps that are due at once become queued mail."""
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        await add_account(conn, 25)  # paused: mail waits
        for statement in (TEMPLATE, ADDRESS, SEQUENCE, PUBLISH):
            await conn.execute(statement.encode())
        await conn.execute(CONTACTS, (count,))
        await conn.execute(ENROLL)
        await settle_down(server, name)
        async with worker(database, workers, queue="sequences") as running:
            roots = {"postgres": server.pid, "worker": running[0].pid}
            with spending(roots) as spent:
                begun = time.monotonic()
                await running[0].until(conn, OVER, count)
                seconds = time.monotonic() - begun
            memory = peak_mb(running[0].pid)
        row = await (await conn.execute(MAIL)).fetchone()
    assert row == (count,), f"{row} mails of {count}"
    return {
        "steps/s": count / seconds,
        **{f"{name} µs": 1e6 * s / count for name, s in spent.seconds.items()},
        "worker MB": memory,
        "others %": 100 * spent.others_share,
    }


async def measure(count: int, workers: int, repeat: int, path: Path | None) -> None:
    """Run the case some times, each in a database of its own."""
    async with own_server() as server:
        report = Report("drips", {**server.settings, "count": count})
        for run in range(repeat):
            found = await steps(server, f"drips_{run}", count=count, workers=workers)
            report.add(f"{count:,} steps, {workers} workers", found)
    report.print()
    report.write(path)


@click.command()
@click.option("--count", type=int, default=100_000, show_default=True, help="Steps due at once.")
@click.option("--workers", type=int, default=1, show_default=True, help="Worker processes.")
@click.option("--repeat", type=int, default=1, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
def main(*, count: int, workers: int, repeat: int, path: Path | None) -> None:
    """Measure steps of sequences that are due together."""
    uvloop.run(measure(count, workers, repeat, path))


if __name__ == "__main__":
    main()
