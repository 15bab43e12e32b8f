"""Runs a mail sink: Postfix's smtp-sink where it is installed, else `bench.arrivals`."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mailqueue.embedded.ports import free_port

_PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/usr/libexec/postfix"
_POLL_SECONDS, _POLLS = 0.05, 100


@dataclass(frozen=True, slots=True)
class Sink:
    """A server that accepts every mail; `kind` is smtp-sink or bench.arrivals."""

    port: int
    pid: int
    kind: str


@asynccontextmanager
async def own_sink() -> AsyncIterator[Sink]:
    """Run a sink on a free port of loopback until the block ends."""
    port = free_port()
    program = shutil.which("smtp-sink", path=_PLACES)
    if program:
        user = ("-u", "nobody") if os.geteuid() == 0 else ()
        command = (program, *user, f"127.0.0.1:{port}", "1000")
    else:
        command = (sys.executable, "-m", "bench.arrivals", str(port))
    process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL)
    try:
        await _listening(port)
        yield Sink(port, process.pid, "smtp-sink" if program else "bench.arrivals")
    finally:
        process.terminate()
        await process.wait()


async def _listening(port: int) -> None:
    for _ in range(_POLLS):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(_POLL_SECONDS)
        else:
            writer.close()
            await writer.wait_closed()
            return
    raise TimeoutError(f"the sink does not listen on port {port}")
