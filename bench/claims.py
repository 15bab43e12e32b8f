"""Measures claiming and settling alone, with lanes and limits, by number of workers and backlog.

Each claimer is a process of its own with one connection: gather, claim 200, settle 200, again.
"""

import asyncio
import json as codec
import sys
from itertools import product
from pathlib import Path
from statistics import quantiles

import click
from psycopg import sql

from bench.cpu import spending
from bench.mails import add_account, resume
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings

BATCH = 200
FAR_LIMIT = 2_000_000_000
# Past the checks of accepting, which another benchmark measures; the lanes are told as usual.
FILL = """
    WITH content AS (
        INSERT INTO mailqueue.email_contents (created_on, project_id, subject, text_body)
        SELECT (now() AT TIME ZONE 'UTC')::date, id, 'Hello', 'Hello'
          FROM mailqueue.projects RETURNING id, created_on, project_id
    ), lane AS (
        SELECT l.project_id, l.id, l.priority, c.id AS content_id, c.created_on,
               row_number() OVER (ORDER BY l.id) - 1 AS place, count(*) OVER () AS lanes
          FROM mailqueue.lanes AS l JOIN content AS c ON c.project_id = l.project_id
         WHERE l.priority = 2 AND l.route = ''
    ), filled AS (
        INSERT INTO mailqueue.email_queue (project_id, project, lane_id, priority, delivery,
            recipient_email, content_id, content_on)
        SELECT l.project_id, NULL, l.id, l.priority, 'resend', 'person' || n || '@example.com',
               l.content_id, l.created_on
          FROM generate_series(1, %s) AS n JOIN lane AS l ON l.place = n %% l.lanes
        RETURNING lane_id, run_at
    )
    INSERT INTO mailqueue.lane_signals (lane_id, due_at, emails)
    SELECT lane_id, min(run_at), count(*) FROM filled GROUP BY lane_id
"""
MORE_PROJECTS = """
    WITH made AS (
        INSERT INTO mailqueue.projects (name) SELECT 'p' || n FROM generate_series(2, %s) AS n
        RETURNING id, name
    )
    INSERT INTO mailqueue.sender_accounts (project_id, name, email, smtp_host, smtp_port, smtp_tls,
        is_private_ok, max_connections, daily_limit)
    SELECT m.id, 'bench', m.name || '@example.com', '127.0.0.1', 25, 'none', true, 4, %s
      FROM made AS m
"""
MORE_ACCOUNTS = """
    INSERT INTO mailqueue.sender_accounts (project_id, name, email, smtp_host, smtp_port, smtp_tls,
        is_private_ok, max_connections, daily_limit)
    SELECT p.id, 'bench' || n, 'sender' || n || '@example.com', '127.0.0.1', 25, 'none', true, 4, %s
      FROM mailqueue.projects AS p, generate_series(2, %s) AS n WHERE p.name = 'default'
"""


async def claim_and_settle(
    server: Server, name: str, *, backlog: int, claimers: int, rows: int
) -> dict[str, float]:
    """Fill the queue up to that length and run that many claimers against it."""
    database = server.database(name)
    async with connect(database, application_name="bench") as conn:
        await conn.execute(FILL, (backlog - await _count(conn, "email_queue"),))
        before = await _count(conn, "email_history")
        await settle_down(server, name)
        with spending({"postgres": server.pid}) as spent:
            found = await _claimers(database, claimers, rows=_share(rows, backlog, claimers))
        if await _count(conn, "email_history") - before != sum(one["rows"] for one in found):
            raise RuntimeError("a row was claimed twice or lost")
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


def _share(rows: int, backlog: int, claimers: int) -> int:
    """Return whole batches to each claimer, and leave some: none may run out of mail."""
    return min(rows, backlog * 9 // 10) // claimers // BATCH * BATCH


async def _count(conn: Conn, table: str) -> int:
    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("mailqueue", table))
    row = await (await conn.execute(query)).fetchone()
    return 0 if row is None else int(row[0])


@click.command()
@click.option("--backlogs", default="10000,1000000", show_default=True, help="Rows in the queue.")
@click.option("--claimers", default="1,2,4", show_default=True, help="Processes to try.")
@click.option("--rows", default=10_000, show_default=True, help="Rows to claim and settle.")
@click.option("--projects", default=1, show_default=True, help="Projects, mail of each queued.")
@click.option("--accounts", default=1, show_default=True, help="Sender accounts of a project.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(
    *,
    backlogs: str,
    claimers: str,
    rows: int,
    projects: int,
    accounts: int,
    repeat: int,
    json: Path | None,
) -> None:
    """Measure claiming and settling alone."""
    lengths = [int(number) for number in backlogs.split(",")]
    numbers = [int(number) for number in claimers.split(",")]
    more = (projects, accounts)
    asyncio.run(_measure(lengths, numbers, rows=rows, more=more, repeat=repeat, json=json))


async def _measure(
    backlogs: list[int],
    claimers: list[int],
    *,
    rows: int,
    more: tuple[int, int],
    repeat: int,
    json: Path | None,
) -> None:
    async with own_server() as server:
        settings = {"rows": rows, "batch": BATCH, "projects": more[0], "accounts": more[1]}
        report = Report("claim + settle", {**server.settings, **settings})
        for run, backlog in product(range(repeat), backlogs):
            name = f"claims_{run}_{backlog}"
            async with connect(await make_database(server, name)) as conn:
                await resume(conn, await add_account(conn, 25, daily_limit=FAR_LIMIT))
                await conn.execute(MORE_ACCOUNTS, (FAR_LIMIT, more[1]))
                await conn.execute(MORE_PROJECTS, (more[0], FAR_LIMIT))
            for number in claimers:
                figures = await claim_and_settle(
                    server, name, backlog=backlog, claimers=number, rows=rows
                )
                report.add(f"{backlog:,} queued, claimers {number}", figures)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
