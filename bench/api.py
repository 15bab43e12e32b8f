"""Measures POST /v1/send and /v1/send/batch.

Clients post at once, each over one kept connection; what was answered 2xx is durable. Beside
another version of mailqueue, runs alternate.
"""

import asyncio
import json as codec
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import quantiles

import click
import uvloop

from bench.cpu import spending
from bench.mails import add_account, body, resume
from bench.report import Report
from bench.server import Server, empty_database, make_database, own_server, settle_down
from bench.versions import against_option
from bench.workers import environment, migrate_with
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import MAX_REQUESTS_PER_SECOND, issue_key

START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Case:
    """One way to post mails; `count` of them in all, `batch` in each request."""

    clients: int
    batch: int
    count: int
    size: int
    checkout: Path | None = None  # another version of mailqueue

    @property
    def name(self) -> str:
        mails = "1 mail" if self.batch == 1 else f"{self.batch} mails"
        of = "" if self.checkout is None else f", {self.checkout.name}"
        return f"{mails} a request, clients {self.clients}{of}"


async def send_through_api(server: Server, case: Case, *, run: int) -> dict[str, float]:
    """Have clients post mails as fast as they are answered."""
    name = f"api_{run}"
    if case.checkout is None:
        database = await make_database(server, name)
    else:
        database = await empty_database(server, name)
        await migrate_with(case.checkout, database)
    requests = case.count // case.batch
    async with connect(database, application_name="bench") as conn:
        await resume(conn, await add_account(conn, 25))
        key = await _unbounded_key(conn)
        await settle_down(server, name)
        with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
            api = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mailqueue", "api", "--port=0", "--no-trap"),
                env=environment(database, data),
                cwd=case.checkout,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                port = await _port(api)
                with spending({"api": api.pid, "postgres": server.pid}) as spent:
                    started = time.perf_counter()
                    each = [
                        _post(port, key, range(n, requests, case.clients), case)
                        for n in range(case.clients)
                    ]
                    took = [one for some in await asyncio.gather(*each) for one in some]
                    seconds = time.perf_counter() - started
            finally:
                api.terminate()
                await api.wait()
        if await _queued(conn) != requests * case.batch:
            raise RuntimeError("an answer said queued and the mail is not there")
    cuts = quantiles([1000 * one for one in took], n=100)
    return {
        "mails/s": requests * case.batch / seconds,
        "p50 ms": cuts[49],
        "p99 ms": cuts[98],
        "api µs a request": 1e6 * spent.seconds["api"] / requests,
        "postgres µs a request": 1e6 * spent.seconds["postgres"] / requests,
        "others %": 100 * spent.others_share,
    }


async def _port(api: asyncio.subprocess.Process) -> int:
    assert api.stderr is not None
    async with asyncio.timeout(START_SECONDS):
        async for line in api.stderr:
            if line.startswith(b"API "):
                return int(line.rpartition(b":")[2].strip(b"/\n "))
    raise RuntimeError("the API did not start")


async def _post(port: int, key: str, numbers: range, case: Case) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    took: list[float] = []
    for number in numbers:
        writer.write(_request(key, number, case))
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


def _request(key: str, number: int, case: Case) -> bytes:
    mail = body(number, case.size)
    content = {"subject": mail.subject, "html_body": mail.html, "text_body": mail.text}
    if case.batch == 1:
        path = "/v1/send"
        text = codec.dumps({"to": [f"person{number}@example.com"], **content}).encode()
    else:
        path = "/v1/send/batch"
        recipients = [{"email": f"person{number}.{n}@example.com"} for n in range(case.batch)]
        text = codec.dumps({"recipients": recipients, **content}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
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
@click.option("--batch", default="1", show_default=True, help="Mails in each request to try.")
@click.option("--count", default=5_000, show_default=True, help="Requests of one mail in each run.")
@click.option(
    "--batch-count", default=20_000, show_default=True, help="Mails of each run with batches."
)
@click.option("--size", default=5_000, show_default=True, help="Bytes of html and text together.")
@against_option
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(
    *,
    clients: str,
    batch: str,
    count: int,
    batch_count: int,
    size: int,
    against: Path | None,
    repeat: int,
    json: Path | None,
) -> None:
    """Measure POST /v1/send and /v1/send/batch."""
    cases = [
        Case(int(number), int(mails), count if mails == "1" else batch_count, size, checkout)
        for number, mails in product(clients.split(","), batch.split(","))
        for checkout in ((None,) if against is None else (None, against))
    ]
    uvloop.run(_measure(cases, repeat=repeat, json=json))


async def _measure(cases: list[Case], *, repeat: int, json: Path | None) -> None:
    async with own_server() as server:
        report = Report("POST /v1/send", {**server.settings, "cases": cases})
        for run, (_, case) in enumerate(product(range(repeat), cases)):
            report.add(case.name, await send_through_api(server, case, run=run))
    report.print()
    report.print_ratios()
    report.write(json)


if __name__ == "__main__":
    main()
