"""An HTTP server for an ASGI app inside a running process."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from mailqueue.api.http.middleware import ConnectionKeeper
from mailqueue.api.http.requests.header_limits import BoundedHeads
from mailqueue.core.errors import ConfigError

App = ASGIApp
"""An app that `listening` serves."""
GRACE_SECONDS = 5
KEPT_SECONDS = 75
"""Time for which an idle connection stays open: longer than clients and proxies keep theirs, which
is 4 to 60 seconds by default, so that none sends a request on a connection that is being closed.
"""


def bind(host: str, port: int, *, option: str) -> socket.socket:
    """Return a listening socket; port 0 takes a free port.

    Raises:
        ConfigError: the port is in use or the host is not local; names the option.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(1024)
    except OSError as exc:
        if exc.errno == errno.EADDRINUSE:
            raise ConfigError(
                f"{option} {port}: the port is in use on {host}; choose another, "
                "or 0 for a free one"
            ) from exc
        raise ConfigError(f"{option} {port}: cannot listen on {host}: {exc.strerror}") from exc
    return sock


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answering = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and note that requests are answered."""
        await super().startup(sockets)
        self.answering.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the surrounding process."""
        yield


@asynccontextmanager
async def listening(
    app: App, sock: socket.socket, *, connections: type[BoundedHeads] = BoundedHeads
) -> AsyncIterator[str]:
    """Serve the app on the socket while the block runs; yield its URL once it answers."""
    closing = asyncio.Event()
    config = uvicorn.Config(
        ConnectionKeeper(app, closing),
        loop="none",
        http=connections,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=KEPT_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]), name="api")
    try:
        answering = asyncio.create_task(server.answering.wait())
        await asyncio.wait((serving, answering), return_when=asyncio.FIRST_COMPLETED)
        answering.cancel()
        host, port = sock.getsockname()[:2]
        yield local_url("http", host, port)
    finally:
        closing.set()
        server.should_exit = True
        await serving


def local_url(scheme: str, host: str, port: int) -> str:
    """Return the URL of a server for clients on this machine."""
    if host in ("0.0.0.0", "::"):  # noqa: S104
        host = "127.0.0.1"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
