"""Measures the time from COMMIT to the mail's last byte at the server, with an idle worker."""

import asyncio
import time
from pathlib import Path
from statistics import quantiles

import click
import uvloop

from bench.arrivals import serve
from bench.cpu import spending
from bench.mails import add_account, bodies, resume
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from bench.workers import send_workers
from mailqueue.db.pool import connect

GRACE_SECONDS = 10.0


class Arrivals:
    """When each mail arrived."""

    def __init__(self) -> None:
        self.at: dict[bytes, float] = {}
        self._news = asyncio.Event()

    def note(self, address: bytes, at: float) -> None:
        """Note an arrival; the first counts."""
        self.at.setdefault(address, at)
        self._news.set()

    async def until(self, count: int) -> None:
        """Wait until that many mails have arrived."""
        async with asyncio.timeout(GRACE_SECONDS):
            while len(self.at) < count:
                self._news.clear()
                await self._news.wait()


async def latencies(
    server: Server, *, rate: float, seconds: float, size: int, run: int
) -> dict[str, float]:
    """Queue mails one by one at this rate and watch them arrive."""
    arrived = Arrivals()
    committed: dict[bytes, float] = {}
    sink = await serve(arrived.note)
    name = f"latency_{run}"
    database = await make_database(server, name)
    async with sink, connect(database, application_name="bench") as conn:
        await resume(conn, await add_account(conn, sink.sockets[0].getsockname()[1]))
        await settle_down(server, name)
        async with send_workers(conn, database, processes=1) as workers:
            with spending({"worker": workers.pid, "postgres": server.pid}) as spent:
                begun = time.perf_counter()
                for n, (address, mail) in enumerate(bodies(int(rate * seconds), size)):
                    await asyncio.sleep(max(0.0, begun + n / rate - time.perf_counter()))
                    asked = ("default", address, mail.subject, mail.html, mail.text)
                    await conn.execute("SELECT mailqueue.enqueue(%s, %s, %s, %s, %s)", asked)
                    committed[address.encode()] = time.time()
                await arrived.until(len(committed))
    took = [1000 * (arrived.at[address] - at) for address, at in committed.items()]
    cuts = quantiles(took, n=100)
    return {
        "p50 ms": cuts[49],
        "p90 ms": cuts[89],
        "p99 ms": cuts[98],
        "max ms": max(took),
        "worker µs": 1e6 * spent.seconds["worker"] / len(took),
        "postgres µs": 1e6 * spent.seconds["postgres"] / len(took),
        "others %": 100 * spent.others_share,
    }


@click.command()
@click.option("--rate", default=20.0, show_default=True, help="Mails a second.")
@click.option("--seconds", default=30.0, show_default=True)
@click.option("--size", default=5_000, show_default=True, help="Bytes of html and text together.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, rate: float, seconds: float, size: int, repeat: int, json: Path | None) -> None:
    """Measure the time from COMMIT to arrival."""
    uvloop.run(_measure(rate=rate, seconds=seconds, size=size, repeat=repeat, json=json))


async def _measure(
    *, rate: float, seconds: float, size: int, repeat: int, json: Path | None
) -> None:
    async with own_server() as server:
        report = Report("latency", {**server.settings, "rate": rate, "seconds": seconds})
        for run in range(repeat):
            figures = await latencies(server, rate=rate, seconds=seconds, size=size, run=run)
            report.add(f"{rate:g} mails a second", figures)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
