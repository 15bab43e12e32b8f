"""A console on a port, and its open pages."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx2

from mailqueue.console.live.reader import APPLICATION
from tests import make
from tests.console.visiting import PASSWORD, Visiting

DASHBOARD = "/console/dashboard/live"
EVENTS = {"Accept": "text/event-stream"}
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"


@dataclass(frozen=True, slots=True)
class Open:
    """One open page: its events, in order."""

    lines: AsyncIterator[str]  # the page is left when they are not referred to any more

    async def event(self) -> tuple[str, Mapping[str, str]] | None:
        """Return the next event; None at the end of the stream."""
        name = ""
        async for line in self.lines:
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                return name, json.loads(line.removeprefix("data: "))
        return None

    async def until(self, wanted: str) -> Mapping[str, str]:
        while (found := await self.event()) is not None:
            if found[0] == wanted:
                return found[1]
        raise AssertionError(f"the stream ended without {wanted}")


@dataclass(frozen=True, slots=True)
class Served:
    """A console on a port, and its open pages."""

    console: Visiting
    url: str
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def browser(self, name: str) -> httpx2.AsyncClient:
        """Return a browser in which a user is logged in."""
        limits = httpx2.Limits(max_connections=None)
        http = httpx2.AsyncClient(base_url=self.url, timeout=30, limits=limits)
        await self.stack.enter_async_context(http)
        login = {"name": name, "password": PASSWORD}
        response = await http.post("/console/login", data=login, headers={"Origin": self.url})
        assert response.status_code == 303
        return http

    async def open(self, http: httpx2.AsyncClient, path: str = DASHBOARD) -> Open:
        response = await self.stack.enter_async_context(http.stream("GET", path, headers=EVENTS))
        assert response.headers["content-type"] == "text/event-stream"
        page = Open(response.aiter_lines())
        assert await page.event() == ("ready", {})
        return page

    async def connections(self) -> int:
        async with self.console.connection() as conn:
            found: int = await make.scalar(conn, CONNECTIONS, APPLICATION)
            return found


async def gone(served: Served) -> None:
    """Wait until the reader has no connection."""
    async with asyncio.timeout(20):
        while await served.connections():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
