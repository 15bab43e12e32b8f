"""Measures accepting mail in PostgreSQL, beside a bare INSERT of the same bytes.

One row a transaction is driven by PostgreSQL's own pgbench, prepared statements, every commit on
disk; batches and COPY by us.
"""

import asyncio
import re
import tempfile
import time
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import click
from psycopg import sql

from bench.cpu import spending
from bench.mails import add_account, bodies, body, resume
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.embedded.binaries import find_binaries

BARE = """
    CREATE TABLE public.bare (
        id uuid NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
        recipient_email text NOT NULL, subject text NOT NULL, html_body text, text_body text,
        created_at timestamptz NOT NULL DEFAULT now());
    ALTER TABLE public.bare
        ALTER COLUMN html_body SET STORAGE EXTERNAL, ALTER COLUMN text_body SET STORAGE EXTERNAL
"""
_INTO = "(recipient_email, subject, html_body, text_body)"
_VALUES = "VALUES ({0}, {1}, {2}, {3});"
SCRIPTS = {
    "bare INSERT": f"INSERT INTO public.bare {_INTO} {_VALUES}",
    "INSERT": f"INSERT INTO mailqueue.email_queue {_INTO} {_VALUES}",
    "enqueue()": "SELECT mailqueue.enqueue('default', {0}, {1}, {2}, {3});",
}
_RATE = re.compile(r"tps = ([0-9.]+)")


async def one_by_one(
    server: Server, script: str, *, clients: int, seconds: int, size: int, run: int
) -> dict[str, float]:
    """Have pgbench run one transaction a mail."""
    name = f"enqueue_{run}"
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        await _prepare(conn)
        await settle_down(server, name)
        text = _script(conn, script, size)
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write(text)
            file.flush()
            command = [
                find_binaries().program("pgbench"),
                *("--no-vacuum", "--protocol=prepared", f"--client={clients}", "--jobs=2"),
                *(f"--time={seconds}", f"--file={file.name}", database.url.reveal()),
            ]
            with spending({"postgres": server.pid}) as spent:
                said = await _output(command)
        found = _RATE.search(said)
        if found is None:
            raise RuntimeError(f"pgbench said no rate: {said}")
        rate = float(found[1])
    return {
        "mails/s": rate,
        "postgres µs": 1e6 * spent.seconds["postgres"] / (rate * seconds),
        "others %": 100 * spent.others_share,
    }


async def many(server: Server, how: str, *, count: int, size: int, run: int) -> dict[str, float]:
    """Insert many mails at once: one content for all, or COPY with a body for each."""
    name = f"enqueue_{run}"
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        await _prepare(conn)
        await settle_down(server, name)
        with spending({"postgres": server.pid}) as spent:
            started = time.perf_counter()
            await (_batch if how == "enqueue_batch()" else _copy)(conn, count, size)
            seconds = time.perf_counter() - started
    return {
        "mails/s": count / seconds,
        "postgres µs": 1e6 * spent.seconds["postgres"] / count,
        "others %": 100 * spent.others_share,
    }


async def _prepare(conn: Conn) -> None:
    await resume(conn, await add_account(conn, 25))
    await conn.execute(BARE)


def _script(conn: Conn, script: str, size: int) -> str:
    mail = body(1, size)
    values = ("person1@example.com", mail.subject, mail.html, mail.text)
    # One line: pgbench ends a command at a line's end unless it looks open.
    return script.format(*(sql.Literal(value).as_string(conn) for value in values)) + "\n"


async def _output(command: list[str]) -> str:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    out, err = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"pgbench failed: {err.decode()[-500:]}")
    return out.decode()


async def _batch(conn: Conn, count: int, size: int) -> None:
    mail = body(0, size)
    await conn.execute(
        """
        SELECT count(*) FROM mailqueue.enqueue_batch('default', (
            SELECT jsonb_agg(jsonb_build_object('recipient', 'person' || n || '@example.com',
                'subject', %s::text, 'html', %s::text, 'text', %s::text))
              FROM generate_series(1, %s) AS n))
        """,
        (mail.subject, mail.html, mail.text, count),
    )


async def _copy(conn: Conn, count: int, size: int) -> None:
    async with (
        conn.cursor() as cursor,
        cursor.copy(f"COPY mailqueue.email_queue {_INTO} FROM STDIN".encode()) as copy,
    ):
        for address, mail in bodies(count, size):
            await copy.write_row((address, mail.subject, mail.html, mail.text))


@click.command()
@click.option("--clients", default="1,8", show_default=True, help="Connections to try.")
@click.option("--seconds", default=5, show_default=True, help="How long each pgbench run takes.")
@click.option("--size", default=5_000, show_default=True, help="Bytes of html and text together.")
@click.option("--count", default=10_000, show_default=True, help="Mails of a batch and a COPY.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(
    *, clients: str, seconds: int, size: int, count: int, repeat: int, json: Path | None
) -> None:
    """Measure accepting mail in PostgreSQL."""
    numbers = [int(number) for number in clients.split(",")]
    settings = {"seconds": seconds, "size": size, "count": count}
    asyncio.run(_measure(numbers, settings, repeat=repeat, json=json))


async def _measure(
    clients: list[int], settings: Mapping[str, int], *, repeat: int, json: Path | None
) -> None:
    size, seconds, count = settings["size"], settings["seconds"], settings["count"]
    async with own_server() as server:
        report = Report("enqueue", {**server.settings, **settings})
        run = 0
        for _ in range(repeat):
            for number, (name, script) in product(clients, SCRIPTS.items()):
                figures = await one_by_one(
                    server, script, clients=number, seconds=seconds, size=size, run=run
                )
                report.add(f"{name}, clients {number}", figures)
                run += 1
            for how in ("enqueue_batch()", "COPY"):
                report.add(how, await many(server, how, count=count, size=size, run=run))
                run += 1
    report.print()
    for number in clients:
        bare = report.median(f"bare INSERT, clients {number}", "mails/s")
        ours = report.median(f"enqueue(), clients {number}", "mails/s")
        click.echo(f"enqueue() by {number}: {ours / bare:.0%} of the bare INSERT's rate")
    report.write(json)


if __name__ == "__main__":
    main()
