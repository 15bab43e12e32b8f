"""Measures our SMTP server and aiosmtpd side by side, with the same handler.

Each server runs in a process of its own. The handler answers a message when the group commit that
took it is over; the commit is a pause, so that PostgreSQL has no part in the figures. Our server
has the limits of the one that programs hand mail to; aiosmtpd has its defaults.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click
import orjson
import uvloop
from aiosmtpd.smtp import SMTP, Envelope, Session

from bench.cpu import spending
from bench.report import Report
from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import ReceivedEnvelope
from mailqueue.smtp.server.listener import smtp_server
from mailqueue.submission.server import LIMITS

SERVERS = ("mailqueue", "aiosmtpd")
ENVELOPE = (b"MAIL FROM:<bob@example.org>\r\n", b"RCPT TO:<ann@example.com>\r\n", b"DATA\r\n")
WARM_UP = 20  # messages, each with a commit of its own
TAKEN = SmtpReply(250, "2.0.0", "taken")


class GroupCommit:
    """Counts messages, and the commits they shared; `commit_s` is how long one takes, seconds."""

    def __init__(self, commit_s: float) -> None:
        self._commit_s = commit_s
        self._waiting: list[asyncio.Future[None]] = []
        self._committing: asyncio.Task[None] | None = None
        self.messages = self.commits = 0

    async def keep(self, raw: bytes) -> None:
        """Return once a commit that includes this message is over."""
        assert raw.endswith(b"\r\n")
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit())
        await done

    async def _commit(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await asyncio.sleep(self._commit_s)
            self.commits += 1
            self.messages += len(batch)
            for each in batch:
                if not each.done():
                    each.set_result(None)
        self._committing = None


class OurHandler:
    """The handler as our server calls it."""

    def __init__(self, commit: GroupCommit) -> None:
        self._commit = commit

    def check_recipient(self, address: str) -> SmtpReply | None:  # noqa: ARG002
        """Accept every recipient."""
        return None

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:  # noqa: ARG002
        """Answer after the commit."""
        await self._commit.keep(raw)
        return TAKEN


class TheirHandler:
    """The handler as aiosmtpd calls it."""

    def __init__(self, commit: GroupCommit) -> None:
        self._commit = commit

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802
        """Answer after the commit."""
        content = envelope.original_content
        assert isinstance(content, bytes)
        await self._commit.keep(content)
        return "250 2.0.0 taken"


async def serve(name: str, commit_s: float) -> None:
    """Serve until stdin ends; print the port first and the handler's counts last."""
    commit = GroupCommit(commit_s)
    loop = asyncio.get_running_loop()
    ended = loop.run_in_executor(None, sys.stdin.buffer.read)
    if name == "mailqueue":
        async with smtp_server(OurHandler(commit), host="127.0.0.1", port=0, limits=LIMITS) as port:
            click.echo(port)
            await ended
    else:
        handler = TheirHandler(commit)
        server = await loop.create_server(
            lambda: SMTP(handler, hostname="localhost", enable_SMTPUTF8=True, loop=loop),
            "127.0.0.1",
            0,
            backlog=1_024,
        )
        click.echo(server.sockets[0].getsockname()[1])
        await ended
        server.close()
    click.echo(orjson.dumps({"messages": commit.messages, "commits": commit.commits}))


@asynccontextmanager
async def running(name: str, commit_s: float) -> AsyncIterator[tuple[int, int, dict[str, int]]]:
    """Run one server; yield its port, its process id and its counts, which are filled in at the
    end.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.smtp_servers", "--serve", name),
        *("--commit-ms", str(1_000 * commit_s)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    counts: dict[str, int] = {}
    try:
        yield int(await process.stdout.readline()), process.pid, counts
    finally:
        process.stdin.close()
        last = await process.stdout.read()
        await process.wait()
    counts.update(orjson.loads(last))


async def converse(port: int, messages: int, text: bytes, *, is_grouped: bool) -> None:
    """Submit messages on one connection; `is_grouped`: the envelope's commands in one write."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def expect(*codes: bytes) -> None:
        for code in codes:
            line = await reader.readline()
            while line[3:4] == b"-":
                line = await reader.readline()
            if line[:3] != code:
                raise RuntimeError(f"expected {code!r}, got {line!r}")

    await expect(b"220")
    writer.write(b"EHLO bench.example\r\n")
    await expect(b"250")
    for _ in range(messages):
        if is_grouped:
            writer.write(b"".join(ENVELOPE))
            await expect(b"250", b"250", b"354")
        else:
            for command, code in zip(ENVELOPE, (b"250", b"250", b"354"), strict=True):
                writer.write(command)
                await expect(code)
        writer.write(text)
        await expect(b"250")
    writer.write(b"QUIT\r\n")
    await expect(b"221")
    writer.close()


async def measure(
    name: str, *, sessions: int, messages: int, size: int, commit_s: float, is_grouped: bool
) -> dict[str, float]:
    """Return the figures of one run against one server."""
    line = b"x" * 74 + b"\r\n"
    text = b"Subject: bench\r\n\r\n" + line * (size // len(line)) + b".\r\n"
    total = sessions * messages
    async with running(name, commit_s) as (port, pid, counts):
        await converse(port, WARM_UP, text, is_grouped=is_grouped)
        with spending({name: pid}) as spent:
            started = time.perf_counter()
            await asyncio.gather(
                *(converse(port, messages, text, is_grouped=is_grouped) for _ in range(sessions))
            )
            passed = time.perf_counter() - started
    return {
        "messages/s": total / passed,
        "server CPU µs a message": 1e6 * spent.seconds[name] / total,
        "messages a commit": (counts["messages"] - WARM_UP) / max(1, counts["commits"] - WARM_UP),
    }


async def compare(report: Report, *, repeat: int, sizes: list[int], **settings: float) -> None:
    """Run both servers in turn, each case `repeat` times."""
    for turn in range(repeat):
        for size in sizes:
            for is_grouped in (False, True):
                for name in SERVERS if turn % 2 == 0 else reversed(SERVERS):
                    figures = await measure(
                        name,
                        size=size,
                        is_grouped=is_grouped,
                        sessions=int(settings["sessions"]),
                        messages=int(settings["messages"]),
                        commit_s=settings["commit_s"],
                    )
                    how = "grouped" if is_grouped else "one by one"
                    report.add(f"{name}, {size} bytes, {how}", figures)


@click.command()
@click.option("--sessions", default=16, show_default=True, help="Connections at a time.")
@click.option("--messages", default=60, show_default=True, help="Messages of one connection.")
@click.option("--size", "sizes", default=[5_000, 50_000], show_default=True, multiple=True)
@click.option("--commit-ms", default=2.0, show_default=True, help="How long a commit takes.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
@click.option("--serve", "served", type=click.Choice(SERVERS), hidden=True)
def main(
    *,
    sessions: int,
    messages: int,
    sizes: tuple[int, ...],
    commit_ms: float,
    repeat: int,
    json: Path | None,
    served: str | None,
) -> None:
    """Measure our SMTP server and aiosmtpd, in turn."""
    if served is not None:
        uvloop.run(serve(served, commit_ms / 1_000))
        return
    settings = {"sessions": sessions, "messages": messages, "commit_s": commit_ms / 1_000}
    report = Report("smtp_servers", {**settings, "sizes": sizes})
    uvloop.run(compare(report, repeat=repeat, sizes=list(sizes), **settings))
    report.print()
    for size in sizes:
        for how in ("one by one", "grouped"):
            ours, theirs = (f"{name}, {size} bytes, {how}" for name in SERVERS)
            rate = report.median(ours, "messages/s") / report.median(theirs, "messages/s")
            cpu = report.median(theirs, "server CPU µs a message") / max(
                0.1, report.median(ours, "server CPU µs a message")
            )
            click.echo(f"{size} bytes, {how}: throughput ×{rate:.1f}, CPU of aiosmtpd ×{cpu:.1f}")
    report.write(json)


if __name__ == "__main__":
    main()
