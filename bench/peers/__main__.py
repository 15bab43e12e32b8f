"""Measures other queues beside mailqueue, in one run on one server and one sink.

Every peer gets ready messages, except django-post-office, which stores subject and bodies and
builds them as we do. The clock of a peer starts at its first job and stops when its table says
that all are done; ours starts when the queue is opened.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click

from bench.cpu import spending, tree
from bench.drain import Case, drain
from bench.peers.installed import PEERS, Installed, Peer, install
from bench.report import Report
from bench.server import NAME, Server, own_server, settle_down
from bench.sink import Sink, own_sink
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.db.provision import provision
from mailqueue.settings.environment import DatabaseSettings

POLL_SECONDS = 0.05
FIRST_SECONDS = 60.0
LONGEST_SECONDS = 300.0
OURS = "mailqueue (builds the message)"


async def peer_drain(
    server: Server, sink: Sink, installed: Installed, peer: Peer, case: Case, *, run: int
) -> dict[str, float]:
    """Fill a peer's queue, and time how fast its workers empty it."""
    name = f"peer_{run}"
    superuser = DatabaseSettings(Secret(server.superuser_url))
    await provision(superuser, role=NAME, password=NAME, database=name)
    database = server.database(name)
    environment = {
        **os.environ,
        "DATABASE_URL": database.url.reveal(),
        "SINK_PORT": str(sink.port),
    }
    fill = installed.command(peer, "fill", str(case.count), str(case.size))
    filling = await asyncio.create_subprocess_exec(*fill, env=environment)
    if await filling.wait():
        raise RuntimeError(f"{peer.name} cannot be filled")
    await settle_down(server, name)
    async with (
        connect(database, application_name="bench") as conn,
        _working(installed, peer, case, environment) as workers,
    ):
        first = await _first(workers, peer)
        with spending({"postgres": server.pid, "sink": sink.pid}) as spent:
            before = _seconds(workers)
            await _until_done(conn, peer, workers)
            took = time.time() - first
            used = _seconds(workers) - before
    each = {
        "worker µs": 1e6 * used / case.count,
        **{f"{name} µs": 1e6 * value / case.count for name, value in spent.seconds.items()},
    }
    return {"mails/s": case.count / took, **each, "sum µs": sum(each.values())}


@asynccontextmanager
async def _working(
    installed: Installed, peer: Peer, case: Case, environment: dict[str, str]
) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    count = 1 if peer.starts_processes else case.processes
    command = installed.command(peer, "work", str(case.processes))
    workers = [
        await asyncio.create_subprocess_exec(
            *command, env=environment, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(count)
    ]
    try:
        yield workers
    finally:
        for worker in workers:
            if worker.returncode is None:
                worker.kill()
            await worker.wait()


async def _first(workers: list[asyncio.subprocess.Process], peer: Peer) -> float:
    """Wait for the first job of any worker; return the instant at which it began."""
    begun: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    for worker in workers:
        asyncio.create_task(_listen(worker, begun))  # noqa: RUF006  it ends with its worker
    try:
        return await asyncio.wait_for(begun, FIRST_SECONDS)
    except TimeoutError as exc:
        raise RuntimeError(f"{peer.name} does not begin") from exc


async def _listen(worker: asyncio.subprocess.Process, begun: asyncio.Future[float]) -> None:
    """Read all output of a worker, so that it never blocks; the time of its first job counts."""
    assert worker.stdout is not None
    async for line in worker.stdout:
        if line.startswith(b"first ") and not begun.done():
            begun.set_result(float(line.split()[1]))
    if not begun.done():
        begun.set_exception(RuntimeError("a worker ended before its first job"))


async def _until_done(conn: Conn, peer: Peer, workers: list[asyncio.subprocess.Process]) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while True:
        row = await (await conn.execute(peer.is_done.encode())).fetchone()
        if row is not None and row[0]:
            return
        if any(worker.returncode for worker in workers) or time.monotonic() > deadline:
            raise RuntimeError(f"{peer.name} did not finish")
        await asyncio.sleep(POLL_SECONDS)


def _seconds(workers: list[asyncio.subprocess.Process]) -> float:
    return sum(process.seconds for worker in workers for process in tree(worker.pid))


@click.command()
@click.option("--count", default=20_000, show_default=True, help="Mails in each queue.")
@click.option("--size", default=5_000, show_default=True, help="Bytes of a mail's text.")
@click.option("--processes", default=2, show_default=True, help="Worker processes of each.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--folder", type=click.Path(path_type=Path), help="Keep the installed peers here.")
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(
    *, count: int, size: int, processes: int, repeat: int, folder: Path | None, json: Path | None
) -> None:
    """Measure other queues beside ours."""
    case = Case(processes, count, size, "own")
    asyncio.run(_measure(case, repeat=repeat, folder=folder, json=json))


async def _measure(case: Case, *, repeat: int, folder: Path | None, json: Path | None) -> None:
    with tempfile.TemporaryDirectory(prefix="mailqueue-bench-peers-") as name:
        place = Path(name) if folder is None else folder
        installed = Installed(place) if _is_there(place) else await install(place)
        async with own_server() as server, own_sink() as sink:
            report = Report("peers", {**server.settings, "sink": sink.kind, "case": case})
            run = 0
            for _ in range(repeat):
                report.add(OURS, await drain(server, sink, case, run=run))
                for peer in PEERS:
                    run += 1
                    figures = await peer_drain(server, sink, installed, peer, case, run=run)
                    report.add(peer.name, figures)
                run += 1
    report.print()
    ours = report.median(OURS, "mails/s")
    best = max(PEERS, key=lambda peer: report.median(peer.name, "mails/s"))
    click.echo(f"mailqueue sends {ours / report.median(best.name, 'mails/s'):.1f} x {best.name}")
    report.write(json)


def _is_there(folder: Path) -> bool:
    return (folder / "venv").exists() and (folder / "node_modules").exists()


if __name__ == "__main__":
    main()
