"""Measures webhooks: events to a fast endpoint, and beside silent ones; every outcome recorded.

The worker is the shipped process, the endpoint one that answers at once over kept connections. The
time from the commit of an event to its request is measured one event at a time. Beside another
version of mailqueue, runs alternate.
"""

import asyncio
import base64
import multiprocessing
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import quantiles
from typing import cast
from uuid import UUID

import click
import uvloop

from bench.cpu import peak_mb, spending
from bench.report import Report
from bench.server import Server, empty_database, make_database, own_server, settle_down
from bench.versions import against_option
from bench.workers import migrate_with
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import parse_master_key
from mailqueue.webhooks import endpoints

LOOPBACK = (ip_network("127.0.0.0/8"),)
MASTER = base64.b64encode(bytes(range(32))).decode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
TELL = """
    INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email)
    SELECT %s, gen_random_uuid(), 'delivered', 'person' || n || '@example.com'
      FROM generate_series(1, %s) AS n
"""
WARMING = 5
"""Lone events before those that are measured."""
PAUSE_SECONDS = 0.5
"""Wait between lone events, in which the worker becomes idle."""
DELIVERED = """
    SELECT count(*) FROM mailqueue.webhook_deliveries
     WHERE webhook_id = %s AND status = 'delivered'
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Endpoints beside the fast one, and the version of mailqueue that delivers."""

    silent: int
    checkout: Path | None = None  # another version of mailqueue

    @property
    def name(self) -> str:
        of = "" if self.checkout is None else f", {self.checkout.name}"
        return f"{self.silent} silent endpoints beside{of}"


class Endpoint(asyncio.Protocol):
    """Answers each request when its last byte has arrived, and notes it."""

    def __init__(self, noted: Callable[[], None] = lambda: None) -> None:
        self._noted = noted

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # a loop's own class may be none
        self._octets = b""

    def data_received(self, data: bytes) -> None:
        self._octets += data
        while (head := self._octets.find(b"\r\n\r\n")) >= 0:
            length = self._octets[:head].lower().split(b"content-length:")[1].split(b"\r\n")[0]
            end = head + 4 + int(length)
            if len(self._octets) < end:
                return
            self._octets = self._octets[end:]
            self._noted()
            self._transport.write(ANSWER)


class Silent(asyncio.Protocol):
    """Accepts connections and never answers."""


def serve(pipe: Connection) -> None:
    """Run both endpoints; report their ports."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        servers = [await loop.create_server(kind, "127.0.0.1", 0) for kind in (Endpoint, Silent)]
        pipe.send([server.sockets[0].getsockname()[1] for server in servers])
        await asyncio.Event().wait()

    uvloop.run(run())


async def add(conn: Conn, port: int) -> UUID:
    """Register an endpoint; return its id."""
    made = await endpoints.add(
        conn,
        await endpoints.project_named(conn, "default"),
        url=f"http://127.0.0.1:{port}/hooks",
        event_types=[],
        description=None,
        secret=None,
        allowed=LOOPBACK,
        master=parse_master_key(MASTER, source="bench"),
        by="bench",
    )
    return made.webhook.id


@asynccontextmanager
async def working(
    database: DatabaseSettings, count: int, checkout: Path | None
) -> AsyncIterator[list[int]]:
    """Run that many workers while the block runs; yield their process ids."""
    environment = os.environ | {
        "MAILQUEUE_DATABASE_URL": database.url.reveal(),
        "MAILQUEUE_MASTER_KEY": MASTER,
        "MAILQUEUE_ALLOWED_HOSTS": "127.0.0.0/8",
        "MAILQUEUE_LOG_LEVEL": "warning",
    }
    command = (sys.executable, "-m", "mailqueue", "worker", "webhooks")
    workers = [
        await asyncio.create_subprocess_exec(*command, env=environment, cwd=checkout)
        for _ in range(count)
    ]
    try:
        yield [worker.pid for worker in workers]
    finally:
        for worker in workers:
            worker.terminate()
        await asyncio.gather(*(worker.wait() for worker in workers))


async def deliver(
    server: Server, name: str, case: Case, *, events: int, ports: list[int], endpoint: int
) -> dict[str, float]:
    """Insert that many events while a worker waits for them; measure until all are delivered."""
    database = await _database(server, name, case.checkout)
    async with connect(database, application_name="bench") as conn:
        good = await add(conn, ports[0])
        for _ in range(case.silent):
            await add(conn, ports[1])
        project = await endpoints.project_named(conn, "default")
        async with working(database, 1, case.checkout) as workers:
            await conn.execute(TELL, (project, 200))
            await _until_delivered(conn, good, 200)  # it runs, and knows the endpoint
            await settle_down(server, name)
            roots = {"postgres": server.pid, "worker": workers[0], "endpoint": endpoint}
            with spending(roots) as spent:
                begun = time.monotonic()
                await conn.execute(TELL, (project, events))
                told = time.monotonic()
                await _until_delivered(conn, good, 200 + events)
                seconds = time.monotonic() - told
            memory = peak_mb(workers[0])
    used = {f"{name} µs": 1e6 * one / events for name, one in spent.seconds.items()}
    return {
        "deliveries/s": events / seconds,
        "telling s": told - begun,
        **used,
        "two cores allow /s": 2e6 / sum(used.values()),
        "worker MiB": memory,
        "others %": 100 * spent.others_share,
    }


async def await_requests(
    server: Server, name: str, checkout: Path | None, *, count: int
) -> dict[str, float]:
    """Commit events one by one while a worker is idle; measure the time until the request."""
    database = await _database(server, name, checkout)
    arrived = asyncio.Event()
    listener = await asyncio.get_running_loop().create_server(
        lambda: Endpoint(arrived.set), "127.0.0.1", 0
    )
    took: list[float] = []
    async with listener, connect(database, application_name="bench") as conn:
        await add(conn, listener.sockets[0].getsockname()[1])
        project = await endpoints.project_named(conn, "default")
        async with working(database, 1, checkout):
            for _ in range(WARMING + count):
                arrived.clear()
                begun = time.perf_counter()
                await conn.execute(TELL, (project, 1))
                await arrived.wait()
                took.append(1000 * (time.perf_counter() - begun))
                await asyncio.sleep(PAUSE_SECONDS)  # the worker is idle again
    cuts = quantiles(took[WARMING:], n=20)
    return {"event to request p50 ms": cuts[9], "p95 ms": cuts[18]}


async def _database(server: Server, name: str, checkout: Path | None) -> DatabaseSettings:
    if checkout is None:
        return await make_database(server, name)
    database = await empty_database(server, name)
    await migrate_with(checkout, database)
    return database


async def _until_delivered(conn: Conn, webhook_id: UUID, count: int) -> None:
    while True:
        row = await (await conn.execute(DELIVERED.encode(), (webhook_id,))).fetchone()
        if row is not None and row[0] >= count:
            return
        await asyncio.sleep(0.2)


@click.command()
@click.option("--events", default=20_000, show_default=True, help="Events of one run.")
@click.option("--silent", default=20, show_default=True, help="Silent endpoints beside it.")
@click.option("--lone", default=60, show_default=True, help="Events that come one by one.")
@against_option
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(
    *, events: int, silent: int, lone: int, against: Path | None, repeat: int, json: Path | None
) -> None:
    """Measure how fast events reach an endpoint."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(theirs,), daemon=True
    )
    process.start()
    ports, endpoint = ours.recv(), process.pid or 0
    versions = (None,) if against is None else (None, against)
    cases = [Case(beside, version) for beside in (0, silent) for version in versions]
    asyncio.run(_measure(cases, events, lone, repeat, ports=ports, endpoint=endpoint, json=json))
    process.terminate()


async def _measure(
    cases: Sequence[Case],
    events: int,
    lone: int,
    repeat: int,
    *,
    ports: list[int],
    endpoint: int,
    json: Path | None,
) -> None:
    async with own_server() as server:
        report = Report("webhooks", {**server.settings, "events": events})
        for run, (n, case) in product(range(repeat), enumerate(cases)):
            name = f"webhooks_{run}_{n}"
            figures = await deliver(
                server, name, case, events=events, ports=ports, endpoint=endpoint
            )
            if not case.silent:
                figures |= await await_requests(server, f"{name}_lone", case.checkout, count=lone)
            report.add(case.name, figures)
    report.print()
    report.print_ratios()
    report.write(json)


if __name__ == "__main__":
    main()
