"""Measures POST /v1/send: clients at once, each with a kept connection, every 2xx durable."""

import asyncio
import json as codec
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from statistics import quantiles

import click
import uvloop

from bench.cpu import spending
from bench.mails import add_account, body, resume
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from bench.workers import environment
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.tenants.keys.manage import MAX_REQUESTS_PER_SECOND, issue_key

START_SECONDS = 30.0


async def send_through_api(
    server: Server, *, clients: int, count: int, size: int, run: int
) -> dict[str, float]:
    """Have clients post mails as fast as they are answered."""
    name = f"api_{run}"
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        await resume(conn, await add_account(conn, 25))
        key = await _unbounded_key(conn)
        await settle_down(server, name)
        with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
            api = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mailqueue", "api", "--port=0", "--no-trap"),
                env=environment(database, data),
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                port = await _port(api)
                with spending({"api": api.pid, "postgres": server.pid}) as spent:
                    started = time.perf_counter()
                    each = [
                        _post(port, key, range(n, count, clients), size) for n in range(clients)
                    ]
                    took = [one for some in await asyncio.gather(*each) for one in some]
                    seconds = time.perf_counter() - started
            finally:
                api.terminate()
                await api.wait()
        if await _queued(conn) != count:
            raise RuntimeError("an answer said queued and the mail is not there")
    cuts = quantiles([1000 * one for one in took], n=100)
    return {
        "mails/s": count / seconds,
        "p50 ms": cuts[49],
        "p99 ms": cuts[98],
        "api µs": 1e6 * spent.seconds["api"] / count,
        "postgres µs": 1e6 * spent.seconds["postgres"] / count,
        "others %": 100 * spent.others_share,
    }


async def _port(api: asyncio.subprocess.Process) -> int:
    assert api.stderr is not None
    async with asyncio.timeout(START_SECONDS):
        async for line in api.stderr:
            if line.startswith(b"API "):
                return int(line.rpartition(b":")[2].strip(b"/\n "))
    raise RuntimeError("the API did not start")


async def _post(port: int, key: str, numbers: range, size: int) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    took: list[float] = []
    for number in numbers:
        writer.write(_request(key, number, size))
        asked = time.perf_counter()
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        took.append(time.perf_counter() - asked)
        if not head.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"the API answered {head[:40]!r}: {answer[:300]!r}")
    writer.close()
    await writer.wait_closed()
    return took


def _request(key: str, number: int, size: int) -> bytes:
    mail = body(number, size)
    text = codec.dumps(
        {
            "to": [f"person{number}@example.com"],
            "subject": mail.subject,
            "html_body": mail.html,
            "text_body": mail.text,
        }
    ).encode()
    head = (
        f"POST /v1/send HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


async def _unbounded_key(conn: Conn) -> str:
    issued = await issue_key(
        conn, "default", "bench", is_test=False, requests_per_second=MAX_REQUESTS_PER_SECOND
    )
    return issued.key.reveal()


async def _queued(conn: Conn) -> int:
    row = await (await conn.execute("SELECT count(*) FROM mailqueue.email_queue")).fetchone()
    return 0 if row is None else int(row[0])


@click.command()
@click.option("--clients", default="1,16", show_default=True, help="Connections to try.")
@click.option("--count", default=5_000, show_default=True, help="Mails of each run.")
@click.option("--size", default=5_000, show_default=True, help="Bytes of html and text together.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, clients: str, count: int, size: int, repeat: int, json: Path | None) -> None:
    """Measure POST /v1/send."""
    numbers = [int(number) for number in clients.split(",")]
    uvloop.run(_measure(numbers, count=count, size=size, repeat=repeat, json=json))


async def _measure(
    clients: list[int], *, count: int, size: int, repeat: int, json: Path | None
) -> None:
    async with own_server() as server:
        report = Report("POST /v1/send", {**server.settings, "count": count, "size": size})
        for run, (_, number) in enumerate(product(range(repeat), clients)):
            figures = await send_through_api(
                server, clients=number, count=count, size=size, run=run
            )
            report.add(f"clients {number}", figures)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
