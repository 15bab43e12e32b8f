"""Measures how fast a full queue is sent: every mail is composed, every outcome recorded.

The workers wait at a paused account with the queue full; the clock starts when the account is
resumed and stops at the last outcome. CPU is that of the same stretch; commits and flushes of the
log to disk are counted a mail. Beside another version of mailqueue, runs alternate; so do runs
without and with a worker of other queues, such as that of the counts of analytics.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import click

from bench.cpu import peak_mb, spending
from bench.dkim import ALGORITHMS, MASTER, give_keys
from bench.flushes import flushes
from bench.link import Distance, link_to
from bench.mails import add_account, fill, fill_templated, resume
from bench.report import Report
from bench.server import Server, empty_database, make_database, own_server, settle_down
from bench.sink import Sink, own_sink
from bench.versions import against_option
from bench.workers import migrate_with, queue_worker, send_workers
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect

CONTENTS = {
    "own": "a body each",
    "shared": "one body for all",
    "template": "rendered from a template with 10 variables",
}
PLAIN = Distance()
UNFINISHED = "SELECT NOT EXISTS (SELECT FROM mailqueue.email_queue)"


@dataclass(frozen=True, slots=True)
class Case:
    """One way to fill the queue, and the number of processes that empty it."""

    processes: int
    count: int
    size: int
    content: str  # own, shared or template
    arguments: tuple[str, ...] = ()
    dkim: str | None = None
    checkout: Path | None = None  # another version of mailqueue
    beside: str | None = None  # a queue that has a worker meanwhile
    distance: Distance = PLAIN

    @property
    def name(self) -> str:
        content = CONTENTS[self.content]
        signed = "" if self.dkim is None else f", DKIM {self.dkim}"
        noun = "process" if self.processes == 1 else "processes"
        of = "" if self.checkout is None else f", {self.checkout.name}"
        beside = "" if self.beside is None else f", with {self.beside}"
        through = self.distance.name and f", {self.distance.name}"
        return f"{content}{signed}, {self.processes} {noun}{of}{beside}{through}"


async def drain(server: Server, sink: Sink, case: Case, *, run: int) -> dict[str, float]:
    """Run one case in a database of its own."""
    name = f"drain_{run}"
    if case.checkout is None:
        database = await make_database(server, name)
    else:
        database = await empty_database(server, name)
        await migrate_with(case.checkout, database)
    async with (
        AsyncExitStack() as links,
        connect(database, application_name="bench") as conn,
    ):
        roots = {"postgres": server.pid, "sink": sink.pid}
        port, variables = sink.port, {"MAILQUEUE_MASTER_KEY": MASTER.key.hex()}
        if case.distance.name:
            link = await links.enter_async_context(link_to(port, case.distance))
            port, roots["link"] = link.port, link.pid
            variables |= link.variables
        account = await add_account(conn, port, is_tls=case.distance.is_tls)
        if case.content == "template":
            await fill_templated(conn, case.count, size=case.size)
        else:
            await fill(conn, case.count, size=case.size, shared=case.content == "shared")
        if case.dkim is not None:
            await give_keys(conn, case.dkim)
        await settle_down(server, name)
        workers = send_workers(
            conn,
            database,
            processes=case.processes,
            arguments=case.arguments,
            variables=variables,
            checkout=case.checkout,
        )
        async with AsyncExitStack() as stack:
            if case.beside is not None:
                other = await stack.enter_async_context(
                    queue_worker(conn, database, case.beside, checkout=case.checkout)
                )
                roots[case.beside] = other.pid
            running = await stack.enter_async_context(workers)
            roots["worker"] = running.pid
            before = await flushes(conn)
            with spending(roots) as spent:
                started = await _instant(conn)
                await resume(conn, account)
                await running.until(conn, UNFINISHED)
            peak = peak_mb(running.pid)
        done = (await flushes(conn)).since(
            before
        )  # the workers have ended: nothing is counted late
        sent, last = await _finished(conn)
    if sent != case.count:
        raise RuntimeError(f"{case.count} mails were queued and {sent} are recorded as sent")
    each = {f"{name} µs": 1e6 * used / sent for name, used in spent.seconds.items()}
    return {
        "mails/s": sent / (last - started),
        **each,
        "sum µs": sum(each.values()),
        "commits": done.commits / sent,
        "flushes": done.flushes / sent,
        "peak MB": peak,
        "others %": 100 * spent.others_share,
    }


async def _instant(conn: Conn) -> float:
    row = await (await conn.execute("SELECT extract(epoch FROM clock_timestamp())")).fetchone()
    assert row is not None
    return float(row[0])


async def _finished(conn: Conn) -> tuple[int, float]:
    row = await (
        await conn.execute(
            "SELECT count(*), extract(epoch FROM max(finished_at)) FROM mailqueue.email_history"
            " WHERE status = 'sent'"
        )
    ).fetchone()
    assert row is not None
    return int(row[0]), float(row[1] or 0)


async def measure(cases: list[Case], *, repeat: int, json: Path | None) -> None:
    """Run each case that many times, in turn, so that the runs of one case are spread over the
    whole time.
    """
    async with own_server() as server, own_sink() as sink:
        settings: dict[str, object] = {**server.settings, "sink": sink.kind, "cases": cases}
        report = Report("drain", settings)
        for run, (_, case) in enumerate(product(range(repeat), cases)):
            report.add(case.name, await drain(server, sink, case, run=run))
    report.print()
    report.print_ratios()
    report.write(json)


@click.command()
@click.option("--count", default=20_000, show_default=True, help="Mails in the queue.")
@click.option("--size", default=5_000, show_default=True, help="Bytes of html and text together.")
@click.option("--processes", default="1,2,4", show_default=True, help="Worker processes to try.")
@click.option("--content", default="own,shared", show_default=True, help="own, shared, template.")
@click.option("--in-flight", type=int, help="Mails one process hands over at once.")
@click.option("--beside", metavar="QUEUE", help="Also run with a worker of a queue, as stats.")
@click.option("--tls", is_flag=True, help="Also through TLS.")
@click.option("--delay-ms", default=0.0, help="Also to a server whose answers take that long.")
@click.option("--dkim", type=click.Choice(list(ALGORITHMS)), help="Sign every mail.")
@against_option
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(
    *,
    count: int,
    size: int,
    processes: str,
    content: str,
    in_flight: int | None,
    beside: str | None,
    tls: bool,
    delay_ms: float,
    dkim: str | None,
    against: Path | None,
    repeat: int,
    json: Path | None,
) -> None:
    """Measure how fast a full queue is sent."""
    arguments = () if in_flight is None else (f"--in-flight={in_flight}",)
    cases = [
        Case(int(number), count, size, kind, arguments, dkim, checkout, queue, distance)
        for kind, number in product(content.split(","), processes.split(","))
        for checkout in ((None,) if against is None else (None, against))
        for queue in ((None,) if beside is None else (None, beside))
        for distance in dict.fromkeys((PLAIN, Distance(is_tls=tls, delay_ms=delay_ms)))
    ]
    asyncio.run(measure(cases, repeat=repeat, json=json))


if __name__ == "__main__":
    main()
