"""Measures webhooks: events to a fast endpoint, and beside silent ones; every outcome recorded.

The worker is the shipped process, the endpoint one that answers at once over kept connections.
"""

import asyncio
import base64
import multiprocessing
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast
from uuid import UUID

import click
import uvloop

from bench.cpu import peak_mb, spending
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
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
DELIVERED = """
    SELECT count(*) FROM mailqueue.webhook_deliveries
     WHERE webhook_id = %s AND status = 'delivered'
"""


class Endpoint(asyncio.Protocol):
    """Answers each request when its last byte has arrived."""

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
async def working(database: DatabaseSettings, count: int) -> AsyncIterator[list[int]]:
    """Run that many workers while the block runs; yield their process ids."""
    environment = os.environ | {
        "MAILQUEUE_DATABASE_URL": database.url.reveal(),
        "MAILQUEUE_MASTER_KEY": MASTER,
        "MAILQUEUE_ALLOWED_HOSTS": "127.0.0.0/8",
        "MAILQUEUE_LOG_LEVEL": "warning",
    }
    command = (sys.executable, "-m", "mailqueue", "worker", "webhooks")
    workers = [
        await asyncio.create_subprocess_exec(*command, env=environment) for _ in range(count)
    ]
    try:
        yield [worker.pid for worker in workers]
    finally:
        for worker in workers:
            worker.terminate()
        await asyncio.gather(*(worker.wait() for worker in workers))


async def deliver(
    server: Server, name: str, *, events: int, silent: int, ports: list[int], endpoint: int
) -> dict[str, float]:
    """Insert that many events while a worker waits for them; measure until all are delivered."""
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        good = await add(conn, ports[0])
        for _ in range(silent):
            await add(conn, ports[1])
        project = await endpoints.project_named(conn, "default")
        async with working(database, 1) as workers:
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


async def _until_delivered(conn: Conn, webhook_id: UUID, count: int) -> None:
    while True:
        row = await (await conn.execute(DELIVERED.encode(), (webhook_id,))).fetchone()
        if row is not None and row[0] >= count:
            return
        await asyncio.sleep(0.2)


@click.command()
@click.option("--events", default=20_000, show_default=True, help="Events of one run.")
@click.option("--silent", default=20, show_default=True, help="Silent endpoints beside it.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, events: int, silent: int, repeat: int, json: Path | None) -> None:
    """Measure how fast events reach an endpoint."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(theirs,), daemon=True
    )
    process.start()
    ports, endpoint = ours.recv(), process.pid or 0
    asyncio.run(_measure(events, silent, repeat, ports=ports, endpoint=endpoint, json=json))
    process.terminate()


async def _measure(
    events: int, silent: int, repeat: int, *, ports: list[int], endpoint: int, json: Path | None
) -> None:
    async with own_server() as server:
        report = Report("webhooks", {**server.settings, "events": events})
        for run in range(repeat):
            for beside in (0, silent):
                figures = await deliver(
                    server,
                    f"webhooks_{run}_{beside}",
                    events=events,
                    silent=beside,
                    ports=ports,
                    endpoint=endpoint,
                )
                report.add(f"{beside} silent endpoints beside", figures)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
