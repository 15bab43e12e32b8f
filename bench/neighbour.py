"""Measures what one project's dear requests and mails cost its neighbours.

While a project attacks, another one inserts a mail every so often, and `/healthz` is asked. A delay
is the time from the insertion to the outcome, or to the end of the run where there is none.
"""

import asyncio
import base64
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
import httpx2
import uvloop

from bench.attacks import ATTACKS, NAME, Attack, Attacker, keep_up
from bench.report import Report
from bench.server import make_database, own_server
from bench.sink import own_sink
from bench.workers import environment, send_workers
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings

START_SECONDS = 60.0
PATIENCE_SECONDS = 60.0
"""Time after the attack in which mails of the neighbour may still be sent."""
HEALTH_SECONDS = 0.25
MAIL_SECONDS = 0.5
_PROJECT = """
WITH project AS (INSERT INTO mailqueue.projects (name, postal_address)
    VALUES (%(name)s, 'Example 1, 10115 Berlin') RETURNING id),
account AS (INSERT INTO mailqueue.sender_accounts
    (project_id, name, email, smtp_host, smtp_port, smtp_tls, is_private_ok, max_connections)
SELECT id, %(name)s, 'sender@example.com', '127.0.0.1', %(port)s, 'none', true, 4 FROM project)
SELECT id::text FROM project
"""
_MAIL = """
INSERT INTO mailqueue.email_queue
    (project_id, recipient_email, subject, text_body, html_body, category)
SELECT p.id, 'person@example.com', 's', 't', m.html_body, m.category
  FROM mailqueue.projects AS p,
       (VALUES (NULL, 'transactional'), ('<a href="https://example.com/">x</a>', 'marketing'))
           AS m (html_body, category)
 WHERE p.name = 'neighbour'
"""
_MAILS = 2
"""Emails of the statement: one that is sent as it is, and one that is tracked."""
_WAITING = """
SELECT NOT EXISTS (SELECT FROM mailqueue.email_queue AS q
                     JOIN mailqueue.projects AS p ON p.id = q.project_id
                    WHERE p.name = 'neighbour')
"""
_DELAYS = """
SELECT extract(epoch FROM h.finished_at - h.created_at), h.status
  FROM mailqueue.email_history AS h JOIN mailqueue.projects AS p ON p.id = h.project_id
 WHERE p.name = 'neighbour' AND h.created_at >= %s
"""
_NOW = "SELECT clock_timestamp()"


@dataclass(frozen=True, slots=True)
class Delays:
    """What a neighbour saw, in seconds; `healths` are answers of `/healthz`.

    `unsent`: mails without an outcome, or with another one than sent.
    """

    mails: list[float]
    unsent: int
    healths: list[float]
    answers: dict[int, int]
    """Requests of the attacker by status of the answer."""
    refusals: dict[int, str]
    """The first answer of each status that is an error."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Processes that serve an attacker and a neighbour."""

    conn: Conn
    health: httpx2.AsyncClient
    attacker: Attacker

    async def attacked(self, attack: Attack, *, seconds: float) -> Delays:
        """Attack for some seconds and return what the neighbour saw."""
        conn, attacker = self.conn, self.attacker
        attacker.answers.clear()
        attacker.refusals.clear()
        begun, end = asyncio.Event(), asyncio.Event()
        healths, count = list[float](), int(seconds / MAIL_SECONDS)
        since = await (await conn.execute(_NOW)).fetchone()
        probing = asyncio.create_task(_probe(self.health, healths, end))
        attacking = asyncio.create_task(keep_up(attack, attacker, begun=begun, end=end))
        await begun.wait()
        for _ in range(count):
            await conn.execute(_MAIL)
            await asyncio.sleep(MAIL_SECONDS)
        for _ in range(int(PATIENCE_SECONDS / HEALTH_SECONDS)):
            if await _is_done(conn):
                break
            await asyncio.sleep(HEALTH_SECONDS)
        end.set()
        await asyncio.gather(probing, attacking)
        rows = await (await conn.execute(_DELAYS, since)).fetchall()
        mails = [float(row[0]) for row in rows if row[1] == "sent"]
        unsent = count * _MAILS - len(mails)
        return Delays(mails, unsent, healths, dict(attacker.answers), dict(attacker.refusals))


@asynccontextmanager
async def installed(database: DatabaseSettings, *, port: int) -> AsyncIterator[Installation]:
    """Yield a running installation; `port` is that of the sink."""
    key = {
        "MAILQUEUE_MASTER_KEY": base64.b64encode(os.urandom(32)).decode(),
        "MAILQUEUE_PUBLIC_URL": "https://mail.example.com",
    }
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        conn = await enter(connect(database, application_name="bench"))
        own = await enter(connect(database, application_name="bench"))
        await _project(conn, "neighbour", port)
        project_id = await _project(conn, NAME, port)
        issued = await issue_key(conn, NAME, "bench", is_test=False)
        await enter(send_workers(conn, database, processes=2, variables=key))
        url = await enter(_serving(database, key, "api", "--no-trap"))
        console_url = await enter(_serving(database, key, "console"))
        health = await enter(httpx2.AsyncClient(base_url=url, timeout=PATIENCE_SECONDS))
        bearer = {"Authorization": f"Bearer {issued.key.reveal()}"}
        limits = httpx2.Limits(max_connections=None)
        api = await enter(
            httpx2.AsyncClient(base_url=url, headers=bearer, timeout=None, limits=limits)
        )
        console = await enter(httpx2.AsyncClient(base_url=console_url, timeout=None))
        attacker = Attacker(own, api, console, project_id, issued.key.reveal())
        yield Installation(conn, health, attacker)


async def _project(conn: Conn, name: str, port: int) -> str:
    row = await (await conn.execute(_PROJECT, {"name": name, "port": port})).fetchone()
    assert row is not None
    return str(row[0])


async def _is_done(conn: Conn) -> bool:
    row = await (await conn.execute(_WAITING)).fetchone()
    return row is not None and bool(row[0])


async def _probe(health: httpx2.AsyncClient, took: list[float], end: asyncio.Event) -> None:
    while not end.is_set():
        began = time.monotonic()
        (await health.get("/healthz")).raise_for_status()
        took.append(time.monotonic() - began)
        await asyncio.sleep(HEALTH_SECONDS)


@asynccontextmanager
async def _serving(
    database: DatabaseSettings, variables: dict[str, str], name: str, *arguments: str
) -> AsyncIterator[str]:
    """Run `mailqueue NAME` until the block ends; yield its URL."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mailqueue", name, "--port=0", *arguments),
            env=environment(database, data, variables),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        try:
            async with asyncio.timeout(START_SECONDS):
                url = ""
                while not url:
                    line = (await process.stderr.readline()).decode()
                    if not line:
                        raise RuntimeError(f"mailqueue {name} did not start")
                    url = next((word for word in line.split() if word.startswith("http://")), "")
            draining = asyncio.create_task(process.stderr.read())
            yield url.rstrip("/").removesuffix("/console")
            process.terminate()
            await draining
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def measure(wanted: str, *, seconds: float, json: Path | None) -> None:
    """Run each attack on a database of its own."""
    async with own_server() as server, own_sink() as sink:
        report = Report("neighbour", {**server.settings, "sink": sink.kind, "seconds": seconds})
        for run, attack in enumerate(one for one in ATTACKS if wanted in one.name):
            database = await make_database(server, f"neighbour_{run}")
            async with installed(database, port=sink.port) as installation:
                seen = await installation.attacked(attack, seconds=seconds)
            report.add(
                attack.name,
                {
                    "mails": len(seen.mails) + seen.unsent,
                    "p50 s": median(seen.mails) if seen.mails else PATIENCE_SECONDS,
                    "worst s": max(seen.mails, default=PATIENCE_SECONDS),
                    "unsent": seen.unsent,
                    "healthz worst s": max(seen.healths),
                    "2xx": sum(n for code, n in seen.answers.items() if code < 300),
                    "429": seen.answers.get(429, 0),
                    "other errors": sum(
                        n for code, n in seen.answers.items() if code >= 300 and code != 429
                    ),
                },
            )
            for status, text in sorted(seen.refusals.items()):
                click.echo(f"{attack.name}: {status} {text}", err=True)
    report.print()
    report.write(json)


@click.command()
@click.option("--attack", default="", help="Only attacks whose names contain this.")
@click.option("--seconds", default=30.0, show_default=True, help="Duration of each attack.")
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, attack: str, seconds: float, json: Path | None) -> None:
    """Measure the delays of a neighbour while a project attacks."""
    uvloop.run(measure(attack, seconds=seconds, json=json))


if __name__ == "__main__":
    main()
