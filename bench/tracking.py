"""Measures opens and clicks of concurrent mail programs; each response follows its commit."""

import asyncio
import base64
import os
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from statistics import quantiles
from uuid import UUID

import click
import uvloop

from bench.api import START_SECONDS
from bench.cpu import spending
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from bench.workers import environment
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.tracking import store
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.model import TrackedLink
from mailqueue.tracking.tokens import Seals, Token, TokenKind
from mailqueue.vault.masterkey import MasterKey

URL = "https://example.com/page"
AGENT = b"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/120 Safari/537.36"
WANTED = ("opens", "clicks", "heads", "alive")
_SENT = """
    INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status, priority,
        attempts, max_attempts, created_at, recipients, unknowns, delivery, category, expires_at,
        recipient_email, content_id, content_on)
    SELECT mailqueue.uuidv7(), now(), p.id, 1, 'sent', 2, 1, 100, now(), 1, 0, 'resend',
           'transactional', now() + interval '1 day', 'person' || n || '@example.com', 1, now()
      FROM mailqueue.projects AS p, generate_series(1, %s) AS n WHERE p.name = 'default'
    RETURNING id
"""


async def ask(server: Server, *, what: str, clients: int, count: int, run: int) -> dict[str, float]:
    """Send requests as fast as they are answered, each for another mail."""
    name = f"tracking_{run}"
    database = await make_database(server, name)
    master = MasterKey(os.urandom(32))
    async with connect(database, application_name="bench") as conn:
        paths = await _paths(conn, master, what=what, count=count)
        await settle_down(server, name)
        with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
            key = base64.b64encode(master.key).decode()
            api = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mailqueue", "api", "--port=0", "--no-trap"),
                env=environment(database, data) | {"MAILQUEUE_MASTER_KEY": key},
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                port = await _port(api)
                with spending({"api": api.pid, "postgres": server.pid}) as spent:
                    started = time.perf_counter()
                    some = [_client(port, paths[n::clients], what) for n in range(clients)]
                    took = [one for each in await asyncio.gather(*some) for one in each]
                    seconds = time.perf_counter() - started
            finally:
                api.terminate()
                await api.wait()
        recorded = "SELECT count(*) FROM mailqueue.email_events WHERE source = 'tracking'"
        row = await (await conn.execute(recorded)).fetchone()
        if row is None or row[0] != (count if what in ("opens", "clicks") else 0):
            raise RuntimeError(f"{row} events were recorded of {count} {what}")
    cuts = quantiles([1000 * one for one in took], n=100)
    return {
        "requests/s": count / seconds,
        "p50 ms": cuts[49],
        "p99 ms": cuts[98],
        "api µs": 1e6 * spent.seconds["api"] / count,
        "postgres µs": 1e6 * spent.seconds["postgres"] / count,
        "others %": 100 * spent.others_share,
    }


async def _paths(conn: Conn, master: MasterKey, *, what: str, count: int) -> list[bytes]:
    found = await (await conn.execute(_SENT.encode(), (count,))).fetchall()
    row = await (
        await conn.execute("SELECT id FROM mailqueue.projects WHERE name = 'default'")
    ).fetchone()
    assert row is not None
    seals = await Keyring(lambda: master).of(conn, row[0])
    link = seals.link_of(URL)
    await store.keep_links(conn, [TrackedLink(row[0], link, URL)])
    return [_path(seals, what, each[0], link) for each in found]


def _path(seals: Seals, what: str, email_id: UUID, link: bytes) -> bytes:
    if what == "alive":
        return b"/healthz"
    if what == "opens":
        return f"/t/o/{seals.seal(Token(TokenKind.OPEN, email_id))}".encode()
    return f"/t/c/{seals.seal(Token(TokenKind.CLICK, email_id, 0, link))}".encode()


async def _port(api: asyncio.subprocess.Process) -> int:
    assert api.stderr is not None
    async with asyncio.timeout(START_SECONDS):
        async for line in api.stderr:
            if line.startswith(b"API "):
                return int(line.rpartition(b":")[2].strip(b"/\n "))
    raise RuntimeError("the API did not start")


async def _client(port: int, paths: list[bytes], what: str) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    method = b"HEAD" if what == "heads" else b"GET"
    wanted = b"HTTP/1.1 302" if what in ("clicks", "heads") else b"HTTP/1.1 200"
    took: list[float] = []
    for path in paths:
        writer.write(
            b"%b %b HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: %b\r\n\r\n" % (method, path, AGENT)
        )
        asked = time.perf_counter()
        head = await reader.readuntil(b"\r\n\r\n")
        if method == b"GET":
            at = head.index(b"content-length: ") + 16
            await reader.readexactly(int(head[at : head.index(b"\r\n", at)]))
        took.append(time.perf_counter() - asked)
        if not head.startswith(wanted):
            raise RuntimeError(f"the answer was {head[:40]!r}")
    writer.close()
    await writer.wait_closed()
    return took


@click.command()
@click.option("--clients", default="1,64", show_default=True, help="Connections to try.")
@click.option("--count", default=20_000, show_default=True, help="Requests of each run.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, clients: str, count: int, repeat: int, json: Path | None) -> None:
    """Measure opens, clicks, HEAD, and beside them a response that needs no database."""
    numbers = [int(number) for number in clients.split(",")]
    uvloop.run(_measure(numbers, count=count, repeat=repeat, json=json))


async def _measure(clients: list[int], *, count: int, repeat: int, json: Path | None) -> None:
    async with own_server() as server:
        report = Report("opens and clicks", {**server.settings, "count": count})
        for run, (_, number, what) in enumerate(product(range(repeat), clients, WANTED)):
            most = count if number > 1 else min(count, 1000)
            figures = await ask(server, what=what, clients=number, count=most, run=run)
            report.add(f"{what}, {number} at once", figures)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
