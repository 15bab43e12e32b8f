"""Measures the watch of inboxes: mail that arrives in many of them becomes messages in Slack, once.

The workers are the shipped processes; IMAP and Slack are the servers of the tests. A third of the
persons have a rule that every other mail matches. With `--kill`, workers are killed every few
seconds, in turn one of their processes and all of them, and begin again. The run fails where a mail
is missing or doubled at Slack, except for those whose notification says that this is unknown.
"""

import asyncio
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import click

from bench.cpu import spending
from bench.flushes import flushes
from bench.killed import Workers, working
from bench.mailboxes import WANTED, ArrivingMail, folder_of, own_servers
from bench.notified import Notified, compare, read
from bench.report import Report
from bench.server import make_database, own_server, settle_down
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import rules
from tests import make
from tests.watch import watching

POLL_SECONDS = 0.2
_BEGIN = """
UPDATE mailqueue.mailboxes
   SET cursor = jsonb_build_object(folders[1], '[1, 1]'::jsonb), scan_seconds = %s
"""
_SCANNED = "SELECT NOT EXISTS (SELECT FROM mailqueue.mailboxes WHERE last_scanned_at IS NULL)"
_SPREAD = """
UPDATE mailqueue.mailboxes SET run_at = clock_timestamp() + random() * scan_seconds * interval '1 s'
 WHERE status = 'pending'
"""
_WAKE = "UPDATE mailqueue.mailboxes SET run_at = clock_timestamp() WHERE status = 'pending'"
_DONE = """
SELECT count(*) FILTER (WHERE kind = 'mail') >= %s
       AND count(*) FILTER (WHERE status IN ('pending', 'assigned')) = 0
  FROM mailqueue.notifications
"""


@dataclass(frozen=True, slots=True)
class Watch:
    """One run; `kill` and `wake` are seconds between kills, and between wakes of all inboxes."""

    mail: ArrivingMail
    every: int = 60
    kill: float | None = None
    wake: float | None = None
    patience: float = 1800.0

    @property
    def wanted(self) -> set[tuple[str, str]]:
        """Return channel and subject of each mail that is to be notified."""
        return {
            (channel_of(inbox), subject)
            for inbox, subject in self.mail.subjects()
            if inbox % 3 or WANTED in subject
        }


def channel_of(inbox: int) -> str:
    """Return the channel in Slack of the person with an inbox."""
    return f"C{inbox:09}"


async def fill(conn: Conn, watch: Watch, port: int) -> None:
    """Add the persons, each with an inbox, a channel and perhaps a rule."""
    project = await make.project_named(conn)
    async with conn.transaction():
        for number in range(watch.mail.inboxes):
            owner = await watching.user(conn, f"person{number}@example.com")
            await watching.channel(conn, owner, slack=channel_of(number))
            address = f"person{number}@example.com"
            await watching.inbox(conn, owner, port, address=address, folders=(folder_of(number),))
            if number % 3 == 0:
                await rules.add(
                    conn, project, owner, rule_type="subject", pattern=WANTED, by="bench"
                )
        await conn.execute(_BEGIN, (watch.every,))


async def watch_inboxes(
    database: DatabaseSettings, watch: Watch, *, postgres: int | None = None, seed: int = 1
) -> tuple[Notified, dict[str, float]]:
    """Run once in an empty database; return what became of the mails, and figures.

    CPU is measured where the process id of PostgreSQL is given and nothing is killed.
    """
    with own_servers(watch.mail.inboxes) as servers:
        async with connect(database, application_name="bench") as conn:
            await fill(conn, watch, servers.imap_port)
            async with working(database, servers) as workers, asyncio.TaskGroup() as beside:
                # They run, and scan each inbox at another time.
                await _until(conn, _SCANNED, watch.patience, workers)
                await conn.execute(_SPREAD)
                disturbing = []
                if watch.kill is not None:
                    chosen = random.Random(seed)  # noqa: S311
                    killing = workers.kill_forever(watch.kill, chosen)
                    disturbing.append(beside.create_task(killing))
                if watch.wake is not None:
                    disturbing.append(beside.create_task(_wake_forever(database, watch.wake)))
                roots = workers.roots() | {"servers": servers.pid}
                if postgres is not None:
                    roots["postgres"] = postgres
                before = await flushes(conn)
                with spending(roots if watch.kill is None else {}) as spent:
                    began = time.monotonic()
                    await servers.arrive(watch.mail)
                    await _until(conn, _DONE, watch.patience, workers, len(watch.wanted))
                    seconds = time.monotonic() - began
                for one in disturbing:
                    one.cancel()
                kills = workers.kills
            commits = (await flushes(conn)).since(before).commits
            posted = await servers.posted()
            found = compare(watch.wanted, await read(conn), posted)
    mails = watch.mail.mails
    cuts = quantiles(posted.delays, n=20) if len(posted.delays) > 1 else [0.0] * 19
    each = {f"{name} µs": 1e6 * used / mails for name, used in spent.seconds.items()}
    return found, {
        "mails/s": mails / seconds,
        "notified": found.single,
        "in summaries": found.summarized,
        "summaries": found.summaries,
        "unknown": found.unknown,
        "kills": kills,
        "faults": len(found.faults),
        "delay p50 s": cuts[9],
        "p95 s": cuts[18],
        "commits": commits / mails,
        **each,
        **({"two cores allow /s": 2e6 / sum(each.values())} if each else {}),
        "others %": 100 * spent.others_share,
    }


async def _wake_forever(database: DatabaseSettings, seconds: float) -> None:
    async with connect(database, application_name="bench") as conn:
        while True:
            await conn.execute(_WAKE)
            await asyncio.sleep(seconds)


async def _until(
    conn: Conn, question: str, patience: float, workers: Workers, *asked: object
) -> None:
    async with asyncio.timeout(patience):
        while True:
            workers.check()
            row = await (await conn.execute(question.encode(), asked or None)).fetchone()
            if row is not None and row[0]:
                return
            await asyncio.sleep(POLL_SECONDS)


async def measure(watch: Watch, *, repeat: int, json: Path | None) -> list[str]:
    """Run that many times; return the faults that were found."""
    faults: list[str] = []
    async with own_server() as server:
        settings: dict[str, object] = {
            **server.settings,
            "inboxes": watch.mail.inboxes,
            "mails": watch.mail.mails,
            "seconds": watch.mail.seconds,
            "scan_seconds": watch.every,
        }
        report = Report("inboxes", settings)
        for run in range(repeat):
            name = f"inboxes_{run}"
            database = await make_database(server, name)
            await settle_down(server, name)
            found, figures = await watch_inboxes(database, watch, postgres=server.pid, seed=run)
            report.add("killed" if watch.kill else "undisturbed", figures)
            faults += found.faults
    report.print()
    report.write(json)
    return faults


@click.command()
@click.option("--inboxes", default=1000, show_default=True, help="Persons, each with an inbox.")
@click.option("--mails", default=50_000, show_default=True, help="Mails of all of them.")
@click.option("--seconds", default=600.0, show_default=True, help="Time in which they arrive.")
@click.option("--every", default=60, show_default=True, help="Seconds between two scans.")
@click.option("--kill", type=float, help="Seconds between two kills.")
@click.option("--wake", type=float, help="Seconds between two wakes of all inboxes.")
@click.option("--repeat", default=1, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(
    *,
    inboxes: int,
    mails: int,
    seconds: float,
    every: int,
    kill: float | None,
    wake: float | None,
    repeat: int,
    json: Path | None,
) -> None:
    """Watch inboxes, and compare what Slack got with what arrived."""
    arriving = ArrivingMail(inboxes, mails, seconds)
    watch = Watch(arriving, every=every, kill=kill, wake=wake)
    faults = asyncio.run(measure(watch, repeat=repeat, json=json))
    for fault in faults:
        click.echo(fault, err=True)
    if faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
