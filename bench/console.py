"""Measures what open pages of the console cost: CPU of the console and of PostgreSQL.

Each page holds a stream of events of the dashboard, while attempts to send are logged.
"""

import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass
from http import HTTPStatus
from itertools import product
from math import ceil
from pathlib import Path

import click
import httpx2
import uvloop

from bench.cpu import spending
from bench.mails import add_account
from bench.report import Report
from bench.server import Server, make_database, own_server
from bench.workers import environment
from mailqueue.admin.users import manage
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect

START_SECONDS = 30.0
PATH = "/console/dashboard/live"
PASSWORD = "correct horse battery"  # noqa: S105
SETTLE_SECONDS = 15.0
"""Seconds in which the console reads the past before a run is measured."""
PAGES_OF_USER = 20
"""Open pages of one user, which are bounded."""
_LOG = """
INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, sender_account_id, attempt, status,
    recipient_email, response_ms)
SELECT clock_timestamp() - %s * interval '1 s', gen_random_uuid(), a.project_id, a.id, 1, 'sent',
       'ann@example.com', 80 + n
  FROM mailqueue.sender_accounts AS a, generate_series(1, %s) AS n
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Open pages, and attempts that are logged in a second."""

    pages: int
    rate: int

    @property
    def name(self) -> str:
        return f"{self.pages} pages, {self.rate} attempts a second"


async def keep_open(server: Server, case: Case, *, run: int, seconds: float) -> dict[str, float]:
    """Hold pages open while attempts are logged; return what processes used of a core."""
    database = await make_database(server, f"console_{run}_{case.pages}")
    async with connect(database, application_name="bench") as conn:
        links = await _prepare(conn, case)
        with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
            console = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mailqueue", "console", "--port=0"),
                env=environment(database, data),
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                url = await _url(console)
                browsers = [await _browser(url, n, link) for n, link in enumerate(links)]
                pages = [_Page(browsers[n % len(browsers)]) for n in range(case.pages)]
                listening = [asyncio.create_task(page.listen()) for page in pages]
                await asyncio.sleep(SETTLE_SECONDS)
                before = [page.events for page in pages]
                with spending({"console": console.pid, "postgres": server.pid}) as spent:
                    took = await _log_attempts(conn, case.rate, seconds=seconds)
                events = min(
                    (page.events - old for page, old in zip(pages, before, strict=True)), default=0
                )
                connections = await _connections(conn)
                for task in listening:
                    task.cancel()
                await asyncio.gather(*listening, return_exceptions=True)
                for browser in browsers:
                    await browser.aclose()
            finally:
                console.terminate()
                await console.wait()
    if case.pages and not events:
        raise RuntimeError("a page received no event")
    return {
        "console % of a core": 100 * spent.seconds["console"] / took,
        "postgres % of a core": 100 * spent.seconds["postgres"] / took,
        "connections of the reader": connections,
        "others %": 100 * spent.others_share,
    }


@dataclass(slots=True)
class _Page:
    """One open page, and the events that it received."""

    browser: httpx2.AsyncClient
    events: int = 0

    async def listen(self) -> None:
        headers = {"Accept": "text/event-stream"}
        async with self.browser.stream("GET", PATH, headers=headers) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                self.events += line.startswith("event: parts")


async def _prepare(conn: Conn, case: Case) -> list[str]:
    """Log a day of attempts; return links by which users set a password."""
    await add_account(conn, 25)
    for hour in range(24):
        await conn.execute(_LOG.encode(), (hour * 3600 + 60, case.rate * 3600))
    await conn.execute("VACUUM ANALYZE mailqueue.send_logs")
    users = max(1, ceil(case.pages / PAGES_OF_USER))
    made = [await manage.add(conn, f"user{n}", role="superadmin", by="bench") for n in range(users)]
    return [each.token.reveal() for each in made]


async def _browser(url: str, number: int, link: str) -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=None)
    browser = httpx2.AsyncClient(base_url=url, timeout=60, limits=limits)
    own = {"Origin": url}
    given = {"link": link, "password": PASSWORD, "again": PASSWORD}
    (await browser.post("/console/welcome", data=given, headers=own)).raise_for_status()
    login = {"name": f"user{number}", "password": PASSWORD}
    response = await browser.post("/console/login", data=login, headers=own)
    if response.status_code != HTTPStatus.SEE_OTHER:
        raise RuntimeError(f"the login was answered {response.status_code}")
    return browser


async def _log_attempts(conn: Conn, rate: int, *, seconds: float) -> float:
    began = time.perf_counter()
    for second in range(int(seconds)):
        await conn.execute(_LOG.encode(), (0, rate))
        await asyncio.sleep(max(0.0, began + second + 1 - time.perf_counter()))
    return time.perf_counter() - began


async def _connections(conn: Conn) -> int:
    found = await conn.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'mailqueue/live'"
    )
    row = await found.fetchone()
    return 0 if row is None else int(row[0])


async def _url(console: asyncio.subprocess.Process) -> str:
    assert console.stderr is not None
    async with asyncio.timeout(START_SECONDS):
        async for line in console.stderr:
            if line.startswith(b"Console "):
                return line.decode().split()[1].removesuffix("/console")
    raise RuntimeError("the console did not start")


@click.command()
@click.option("--pages", default="0,50", show_default=True, help="Numbers of open pages to try.")
@click.option("--rate", default=20, show_default=True, help="Attempts logged in a second.")
@click.option("--seconds", default=120.0, show_default=True, help="Length of a run.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, pages: str, rate: int, seconds: float, repeat: int, json: Path | None) -> None:
    """Measure what open pages of the console cost."""
    cases = [Case(int(number), rate) for number in pages.split(",")]
    uvloop.run(_measure(cases, seconds=seconds, repeat=repeat, json=json))


async def _measure(cases: list[Case], *, seconds: float, repeat: int, json: Path | None) -> None:
    async with own_server() as server:
        report = Report("Open pages of the console", {**server.settings, "cases": cases})
        for run, (_, case) in enumerate(product(range(repeat), cases)):
            report.add(case.name, await keep_open(server, case, run=run, seconds=seconds))
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
