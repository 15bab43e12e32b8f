"""Measures how long the search takes to find one of millions of emails, by each key.

The emails are finished ones of twelve months, every tenth with a second recipient, and queued ones.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
import uvloop

from bench.mails import add_account
from bench.report import Report
from bench.server import own_server
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect

MONTHS = 12
STEP = 200_000
LIMIT = 10
"""Matches of each kind that are asked for."""
_MONTH = """
SELECT mailqueue.make_partitions_of((date_trunc('month', now()) - %s * interval '1 month')::date)
"""
_FINISHED = """
WITH content AS (
    INSERT INTO mailqueue.email_contents (project_id, subject, text_body, created_on)
    SELECT p.id, 'Your order', 'Hello', (now() AT TIME ZONE 'UTC')::date
      FROM mailqueue.projects AS p WHERE p.name = 'default'
    RETURNING id, created_on, project_id
), made AS MATERIALIZED (
    SELECT n, at, encode(substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3)
                         || substring(uuid_send(gen_random_uuid()) FROM 7), 'hex')::uuid AS id
      FROM (SELECT n, date_trunc('month', now()) - %(month)s * interval '1 month'
                      + (n %% 2000000) * interval '1 s' AS at
              FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n) AS t
), finished AS (
    INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status, priority,
        attempts, max_attempts, created_at, recipients, unknowns, delivery, category, expires_at,
        recipient_email, content_id, content_on, message_id, provider_message_id)
    SELECT m.id, m.at + interval '2 s', c.project_id, l.id, 'sent', 2, 1, 5, m.at, 1, 0, 'resend',
           'transactional', m.at + interval '1 day', 'person' || m.n || '@example.com', c.id,
           c.created_on,
           CASE WHEN m.n %% 10 = 0 THEN '<order-' || m.n || '@shop.example.com>'
                ELSE '<' || replace(m.id::text, '-', '') || '@mail.example.com>' END,
           'provider-' || m.n
      FROM made AS m, content AS c, (SELECT min(id) AS id FROM mailqueue.lanes) AS l
)
INSERT INTO mailqueue.email_recipients (email_id, project_id, position, kind, address)
SELECT m.id, c.project_id, 1, 'cc', 'other' || m.n || '@example.com' FROM made AS m, content AS c
 WHERE m.n %% 10 = 0
"""
_QUEUED = """
INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)
SELECT 'waiting' || n || '@example.com', 'Your order', 'Hello' FROM generate_series(1, %s) AS n
"""
_SOME = "SELECT id, message_id FROM mailqueue.email_history WHERE provider_message_id = %s"


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of emails."""

    finished: int
    queued: int


def places(size: Size, tries: int) -> Iterator[int]:
    """Yield numbers of finished emails, spread over all of them; each tenth a multiple of ten."""
    for n in range(tries):
        place = (n * 7_919_543) % size.finished + 1
        yield place - place % 10 + 10 if n % 10 == 0 else place


async def fill(conn: Conn, size: Size) -> None:
    """Make the emails; print the progress."""
    await add_account(conn, 25)
    for month in range(MONTHS):
        await conn.execute(_MONTH.encode(), (month,))
    for first in range(1, size.finished + 1, STEP):
        last = min(first + STEP - 1, size.finished)
        month = MONTHS - 1 - (first - 1) * MONTHS // size.finished
        given = {"first": first, "last": last, "month": month}
        await conn.execute(_FINISHED.encode(), given)
        click.echo(f"\r  {last:,} of {size.finished:,} emails", nl=False, err=True)
    click.echo("", err=True)
    await conn.execute(_QUEUED.encode(), (size.queued,))
    await conn.execute("VACUUM ANALYZE")


async def texts(conn: Conn, size: Size, tries: int) -> Mapping[str, list[str]]:
    """Return what is searched for, by kind of key."""
    found: dict[str, list[str]] = {"email id": [], "Message-ID": [], "their Message-ID": []}
    numbers = list(places(size, tries))
    for number in numbers:
        row = await (await conn.execute(_SOME, (f"provider-{number}",))).fetchone()
        if row is None:
            continue
        found["email id"].append(str(row[0]))
        found["their Message-ID" if number % 10 == 0 else "Message-ID"].append(row[1])
    return found | {
        "provider id": [f"provider-{n}" for n in numbers],
        "address": [f"person{n}@example.com" for n in numbers],
        "address of a copy": [f"other{n - n % 10 + 10}@example.com" for n in numbers],
        "address, queued": [f"waiting{n % size.queued + 1}@example.com" for n in numbers],
        "project": ["defa"] * tries,
        "nothing": [f"no-such-thing-{n}" for n in numbers],
    }


async def look_up(conn: Conn, wanted: list[str], *, is_found: bool) -> Mapping[str, float]:
    """Search for each text; return the milliseconds it took.

    Raises:
        RuntimeError: something else was found than there is.
    """
    took = []
    for text in wanted:
        began = time.perf_counter()
        rows = await (
            await conn.execute("SELECT kind FROM mailqueue.search(%s, %s)", (text, LIMIT))
        ).fetchall()
        took.append(1000 * (time.perf_counter() - began))
        if bool(rows) is not is_found:
            raise RuntimeError(f"{text}: {len(rows)} matches")
    return {"median ms": median(took), "slowest ms": max(took), "searches": len(took)}


@click.command()
@click.option("--finished", default=1_000_000, show_default=True, help="Finished emails.")
@click.option("--queued", default=40_000, show_default=True, help="Queued emails.")
@click.option("--tries", default=100, show_default=True, help="Searches by each key.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, finished: int, queued: int, tries: int, repeat: int, json: Path | None) -> None:
    """Measure how long the search takes."""
    uvloop.run(_measure(Size(finished, queued), tries=tries, repeat=repeat, json=json))


async def _measure(size: Size, *, tries: int, repeat: int, json: Path | None) -> None:
    async with own_server() as server:
        report = Report("Search", {**server.settings, "size": size})
        async with connect(server.database(), application_name="bench") as conn:
            await fill(conn, size)
            wanted = await texts(conn, size, tries)
            for _ in range(repeat):
                for key, some in wanted.items():
                    report.add(key, await look_up(conn, some, is_found=key != "nothing"))
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
