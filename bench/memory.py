"""Watches the memory of a send worker that always has mail."""

import asyncio
import time
from pathlib import Path

import click
import uvloop

from bench.cpu import held_mb, peak_mb
from bench.mails import add_account, fill, fill_from_template, fill_templated, resume
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from bench.sink import own_sink
from bench.workers import send_workers
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect

LEFT = "SELECT count(*) FROM mailqueue.email_queue"
SENT = "SELECT count(*) FROM mailqueue.email_history WHERE status = 'sent'"


async def refill(conn: Conn, turn: int, count: int, size: int) -> None:
    """Queue mails with bodies of their own, with one for all, from a template: in turn."""
    if turn % 3 == 0:
        await fill(conn, count, size=size)
    elif turn % 3 == 1:
        await fill(conn, count, size=size, shared=True)
    elif turn == 2:
        await fill_templated(conn, count, size=size)
    else:
        await fill_from_template(conn, count)


async def watch(server: Server, report: Report, *, minutes: int, count: int, size: int) -> None:
    """Report the memory of one worker each minute."""
    database = await make_database(server, "memory")
    async with own_sink() as sink, connect(database, application_name="bench") as conn:
        await resume(conn, await add_account(conn, sink.port))
        await settle_down(server, "memory")
        async with send_workers(conn, database, processes=1) as workers:
            begun, turn = time.monotonic(), 0
            for minute in range(1, 1 + minutes):
                while time.monotonic() < begun + 60 * minute:
                    if await _count(conn, LEFT) < count // 2:
                        await refill(conn, turn, count, size)
                        turn += 1
                    await asyncio.sleep(0.2)
                report.add(
                    f"minute {minute}",
                    {
                        "MB": held_mb(workers.pid),
                        "most MB": peak_mb(workers.pid),
                        "sent": await _count(conn, SENT),
                    },
                )


async def _count(conn: Conn, query: str) -> int:
    row = await (await conn.execute(query.encode())).fetchone()
    assert row is not None
    return int(row[0])


@click.command()
@click.option("--minutes", default=60, show_default=True)
@click.option("--count", default=5_000, show_default=True, help="Mails queued at once.")
@click.option("--size", default=5_000, show_default=True, help="Bytes of html and text together.")
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, minutes: int, count: int, size: int, json: Path | None) -> None:
    """Watch the memory of one worker while it sends continuously."""
    uvloop.run(_measure(minutes=minutes, count=count, size=size, json=json))


async def _measure(*, minutes: int, count: int, size: int, json: Path | None) -> None:
    async with own_server() as server:
        report = Report("memory", {**server.settings, "count": count, "size": size})
        await watch(server, report, minutes=minutes, count=count, size=size)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
