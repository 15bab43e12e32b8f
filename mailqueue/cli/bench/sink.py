"""An SMTP test server in a separate process: its CPU time is not counted as the worker's."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection

import uvloop

from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import ReceivedEnvelope
from mailqueue.smtp.server.listener import smtp_server


class Nowhere:
    """Accept every email and store none."""

    def check_recipient(self, address: str) -> SmtpReply | None:  # noqa: ARG002
        """Accept every recipient."""
        return None

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:  # noqa: ARG002
        """Accept the message."""
        return SmtpReply(250, "2.0.0", "Ok")


@contextmanager
def sink() -> Iterator[int]:
    """Run the test server on loopback; yield its port."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs,), daemon=True)
    process.start()
    try:
        port: int = ours.recv()
        yield port
    finally:
        process.terminate()
        process.join()


def _run(connection: Connection) -> None:
    uvloop.run(_serve(connection))


async def _serve(connection: Connection) -> None:
    async with smtp_server(Nowhere(), host="127.0.0.1", port=0) as port:
        connection.send(port)
        await asyncio.Event().wait()
