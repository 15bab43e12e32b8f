"""Measures claiming and settling alone, lanes and limits on: how it grows with workers and backlog.

Each claimer is a process of its own with one connection: gather, claim 200, settle 200, again.
"""

import asyncio
import json as codec
import sys
from itertools import product
from pathlib import Path
from statistics import quantiles

import click

from bench.cpu import spending
from bench.mails import add_account, resume
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from mailqueue.core.config import DatabaseSettings
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect

BATCH = 200
FAR_LIMIT = 2_000_000_000
# Past the checks of accepting, which another benchmark measures; the lanes are told as usual.
FILL = """
    WITH content AS (
        INSERT INTO mailqueue.email_contents (created_on, project_id, subject, text_body)
        SELECT (now() AT TIME ZONE 'UTC')::date, id, 'Hello', 'Hello'
          FROM mailqueue.projects WHERE name = 'default' RETURNING id, created_on
    )
    INSERT INTO mailqueue.email_queue (project_id, project, lane_id, priority, delivery,
        recipient_email, content_id, content_on)
    SELECT l.project_id, NULL, l.id, l.priority, 'resend', 'person' || n || '@example.com',
           c.id, c.created_on
      FROM mailqueue.lanes AS l JOIN mailqueue.projects AS p ON p.id = l.project_id,
           content AS c, generate_series(1, %s) AS n
     WHERE p.name = 'default' AND l.priority = 2 AND l.route = ''
"""


async def claim_and_settle(
    server: Server, *, backlog: int, claimers: int, rows: int, run: int
) -> dict[str, float]:
    """Run so many claimers against a queue of that length, in a database of its own."""
    name = f"claims_{run}"
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        account = await add_account(conn, 25, daily_limit=FAR_LIMIT)
        await resume(conn, account)
        await conn.execute(FILL, (backlog,))
        await settle_down(server, name)
        with spending({"postgres": server.pid}) as spent:
            found = await _claimers(database, claimers, rows=min(rows, backlog) // claimers)
        await _check(conn, found)
    total = sum(one["rows"] for one in found)
    seconds = max(one["ended"] for one in found) - min(one["started"] for one in found)
    claims = [1000 * each for one in found for each in one["claims"]]
    cuts = quantiles(claims, n=100)
    return {
        "rows/s": total / seconds,
        "claim p50 ms": cuts[49],
        "claim p99 ms": cuts[98],
        "postgres µs": 1e6 * spent.seconds["postgres"] / total,
        "others %": 100 * spent.others_share,
    }


async def _claimers(database: DatabaseSettings, count: int, *, rows: int) -> list[dict]:  # type: ignore[type-arg]
    command = (sys.executable, "-m", "bench.claimer", database.url.reveal(), str(BATCH), str(rows))
    pipe = asyncio.subprocess.PIPE
    processes = [
        await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
        for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        await process.stdout.readline()  # it is ready
    answers = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    if any(process.returncode for process in processes):
        raise RuntimeError("a claimer failed")
    return [codec.loads(out) for out, _ in answers]


async def _check(conn: Conn, found: list[dict]) -> None:  # type: ignore[type-arg]
    row = await (await conn.execute("SELECT count(*) FROM mailqueue.email_history")).fetchone()
    assert row is not None
    if row[0] != sum(one["rows"] for one in found):
        raise RuntimeError("a row was claimed twice or lost")


@click.command()
@click.option("--backlogs", default="10000,1000000", show_default=True, help="Rows in the queue.")
@click.option("--claimers", default="1,2,4", show_default=True, help="Processes to try.")
@click.option("--rows", default=10_000, show_default=True, help="Rows to claim and settle.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, backlogs: str, claimers: str, rows: int, repeat: int, json: Path | None) -> None:
    """Measure claiming and settling alone."""
    cases = list(product(map(int, backlogs.split(",")), map(int, claimers.split(","))))
    asyncio.run(_measure(cases, rows=rows, repeat=repeat, json=json))


async def _measure(
    cases: list[tuple[int, int]], *, rows: int, repeat: int, json: Path | None
) -> None:
    async with own_server() as server:
        report = Report("claim + settle", {**server.settings, "rows": rows, "batch": BATCH})
        for run, (_, (backlog, claimers)) in enumerate(product(range(repeat), cases)):
            figures = await claim_and_settle(
                server, backlog=backlog, claimers=claimers, rows=rows, run=run
            )
            report.add(f"{backlog:,} queued, claimers {claimers}", figures)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
