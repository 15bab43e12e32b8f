"""Measures what servers that hang cost others: the rate of forty accounts beside ten that hang.

Each account is a project of its own. The ten hang at one point of the conversation, with mail of
their own behind it: from the beginning, before the forty are resumed, or having taken some mails
beside them. The clock starts when the forty are resumed and stops at the last of their outcomes.
The same without the ten is what it is compared with, at the same speed of the machine: the sink
does the same for a mail in both, so its CPU time is the measure of that.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import cast

import click
import uvloop

from bench.cpu import spending
from bench.mails import body
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from bench.sink import Sink, own_sink
from bench.workers import send_workers
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect

HANGING, OTHERS = 10, 40
BEHIND = 500  # mails that wait for each server that hangs
PLACES = ("connect", "EHLO", "MAIL", "RCPT", "DATA", ".")
NOBODY = "nobody hangs"
_ACCOUNT = """
WITH project AS (INSERT INTO mailqueue.projects (name) VALUES (%(name)s) RETURNING id)
INSERT INTO mailqueue.sender_accounts
    (project_id, name, email, smtp_host, smtp_port, smtp_tls, is_private_ok, status)
SELECT id, %(name)s, 'sender@example.com', '127.0.0.1', %(port)s, 'none', true, 'paused'
  FROM project
"""
_FILL = """
SELECT count(*) FROM mailqueue.enqueue_batch(%s, (
    SELECT jsonb_agg(jsonb_build_object('recipient', 'person' || n || '@example.com',
        'subject', %s::text, 'html', %s::text, 'text', %s::text))
      FROM generate_series(1, %s) AS n))
"""
_RESUME = "UPDATE mailqueue.sender_accounts SET status = 'active' WHERE name ^@ %s"
_UNFINISHED = """
SELECT NOT EXISTS (SELECT FROM mailqueue.email_queue AS q
                     JOIN mailqueue.projects AS p ON p.id = q.project_id WHERE p.name ^@ 'other')
"""
_FINISHED = """
SELECT count(*), extract(epoch FROM max(h.finished_at))
  FROM mailqueue.email_history AS h JOIN mailqueue.projects AS p ON p.id = h.project_id
 WHERE p.name ^@ 'other' AND h.status = 'sent'
"""


class Hanging:
    """A server that hangs at one step after it has taken `after` mails; `struck` returns when."""

    def __init__(self, place: str, after: int) -> None:
        self.place = place
        self.after = after
        self.mails = 0
        self.struck = asyncio.Event()
        self.transports: list[asyncio.Transport] = []

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: Dialog(self), "127.0.0.1", 0)
        self.port = int(self._listener.sockets[0].getsockname()[1])

    def count(self) -> None:
        """Count a mail; a server that hangs at the start of a conversation ends all open ones
        first.
        """
        self.mails += 1
        if self.mails == self.after and self.place in ("connect", "EHLO"):
            for transport in self.transports:
                transport.close()

    def end(self) -> None:
        """Close every open connection, and accept no more."""
        self._listener.close()
        for transport in self.transports:
            transport.abort()


class Dialog(asyncio.Protocol):
    """A connection that answers as usual up to its step, and nothing afterwards."""

    def __init__(self, server: Hanging) -> None:
        self._server = server
        self._rest = b""
        self._hangs = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet, unless that is where it hangs."""
        self._transport = cast(asyncio.Transport, transport)
        self._server.transports.append(self._transport)
        self._reach("connect", b"220 hanging ESMTP\r\n")

    def data_received(self, data: bytes) -> None:
        """Answer each line; of a message only the dot counts."""
        *lines, self._rest = (self._rest + data).split(b"\r\n")
        for line in lines:
            if self._hangs:
                return
            match line[:4].upper():
                case b"EHLO":
                    said = b"250-hanging\r\n250-PIPELINING\r\n250 8BITMIME\r\n"
                    self._reach("EHLO", said)
                case b"MAIL" | b"RCPT" as verb:
                    self._reach(verb.decode(), b"250 2.0.0 Ok\r\n")
                case b"DATA":
                    self._reach("DATA", b"354 Go on\r\n")
                case b".":
                    self._reach(".", b"250 2.0.0 Ok\r\n")

    def _reach(self, place: str, usual: bytes) -> None:
        if place == self._server.place and self._server.mails >= self._server.after:
            self._hangs = True
            self._server.struck.set()
            self._transport.pause_reading()
        else:
            self._transport.write(usual)
            if place == ".":
                self._server.count()


@asynccontextmanager
async def hanging(place: str, after: int) -> AsyncIterator[list[Hanging]]:
    """Run the servers that hang."""
    servers = [Hanging(place, after) for _ in range(HANGING if place != NOBODY else 0)]
    for server in servers:
        await server.start()
    try:
        yield servers
    finally:
        for server in servers:
            server.end()


async def run_once(
    server: Server, sink: Sink, place: str, *, after: int, count: int, run: int
) -> tuple[float, float]:
    """Return the rate of the forty while the ten hang there, and the sink's CPU seconds a mail."""
    name = f"hanging_{run}"
    database = await make_database(server, name)
    async with hanging(place, after) as found, connect(database, application_name="bench") as conn:
        for number, hung in enumerate(found):
            await _add(conn, f"hanging-{number}", hung.port, after + BEHIND)
        for number in range(OTHERS):
            await _add(conn, f"other-{number}", sink.port, count // OTHERS)
        await settle_down(server, name)
        async with send_workers(conn, database, processes=2) as workers:
            if after == 0:
                await conn.execute(_RESUME, ("hanging",))
                await _all_struck(found)
            _, started = await _ask(conn, "SELECT 0, extract(epoch FROM clock_timestamp())")
            with spending({"sink": sink.pid}) as spent:
                await conn.execute(_RESUME, ("",))
                await workers.until(conn, _UNFINISHED)
            await _all_struck(found)
            sent, last = await _ask(conn, _FINISHED)
            for hung in found:
                hung.end()  # the workers would wait for them before they stop
    return sent / (last - started), spent.seconds["sink"] / sent


async def _all_struck(servers: list[Hanging]) -> None:
    async with asyncio.timeout(60):
        for hung in servers:
            await hung.struck.wait()


async def _add(conn: Conn, name: str, port: int, mails: int) -> None:
    mail = body(0, 5_000)
    await conn.execute(_ACCOUNT, {"name": name, "port": port})
    await conn.execute(_FILL, (name, mail.subject, mail.html, mail.text, mails))


async def _ask(conn: Conn, question: str) -> tuple[int, float]:
    row = await (await conn.execute(question.encode())).fetchone()
    assert row is not None
    return int(row[0]), float(row[1])


async def measure(
    places: list[str], *, afters: list[int], count: int, repeat: int, json: Path | None
) -> None:
    """Run each step that many times, in turn, each beside a run without hanging servers."""
    async with own_server() as server, own_sink() as sink:
        report = Report("hanging", {**server.settings, "sink": sink.kind, "count": count})
        for run, (_, after, place) in enumerate(product(range(repeat), afters, places)):
            alone, was = await run_once(server, sink, NOBODY, after=0, count=count, run=2 * run)
            beside, now = await run_once(
                server, sink, place, after=after, count=count, run=2 * run + 1
            )
            rates = {"alone/s": alone, "beside/s": beside, "ratio": beside / alone}
            at_same_speed = {"ratio at the same speed": rates["ratio"] * now / was}
            report.add(f"ten hang at {place} after {after}", rates | at_same_speed)
    report.print()
    report.write(json)


@click.command()
@click.option("--places", default=",".join(PLACES), show_default=True, help="Where they hang.")
@click.option(
    "--after", default="0,100", show_default=True, help="So many mails each has taken by then."
)
@click.option("--count", default=100_000, show_default=True, help="Mails of the forty together.")
@click.option("--repeat", default=2, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, places: str, after: str, count: int, repeat: int, json: Path | None) -> None:
    """Measure the rate of forty accounts while ten others hang, and without them."""
    afters = list(map(int, after.split(",")))
    uvloop.run(measure(places.split(","), afters=afters, count=count, repeat=repeat, json=json))


if __name__ == "__main__":
    main()
