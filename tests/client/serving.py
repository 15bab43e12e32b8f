"""A server on a socket, clients of it, and a transport that loses responses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from mailqueue.api.app import create_app
from mailqueue.api.http.server import bind, listening
from mailqueue.client import Client, Retries
from mailqueue.wiring.api import build_services
from tests.api.support.calling import Calling, settings_for

AT_ONCE = Retries(attempts=4, first_wait=0)


@asynccontextmanager
async def served(api: Calling) -> AsyncIterator[str]:
    """Serve `api` on a port of loopback; yield its URL."""
    settings = settings_for(api.database)
    app = create_app(settings, api.pool, services=build_services(settings, api.pool))
    async with listening(app, bind("127.0.0.1", 0, option="--port")) as url:
        yield url


def client_of(api: Calling, wire: httpx2.AsyncBaseTransport | None = None) -> Client:
    """Return a client of the application, without a port."""
    transport = wire or wire_of(api)
    return Client("http://api.example", api.key, retries=AT_ONCE, transport=transport)


def wire_of(api: Calling) -> httpx2.AsyncBaseTransport:
    settings = settings_for(api.database)
    app = create_app(settings, api.pool, services=build_services(settings, api.pool))
    return httpx2.ASGITransport(app=app, raise_app_exceptions=False)


class Wire(httpx2.AsyncBaseTransport):
    """Forwards every request; `fates` lists what happens to each response, in order."""

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, fates: list[Exception | httpx2.Response | None]
    ) -> None:
        self.inner, self.fates = inner, fates
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = await self.inner.handle_async_request(request)
        fate = self.fates.pop(0) if self.fates else None
        if fate is None:
            return answer
        await answer.aread()
        if isinstance(fate, Exception):
            raise fate
        return fate
