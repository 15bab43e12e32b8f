"""Which surfaces a request reaches by its Host header: an own name, or a project's tracking domain.

X-Forwarded-Host is not read: a client could name any host in it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Receive, Scope, Send

from mailqueue.core.errors import Unavailable
from mailqueue.settings.listeners import ListenerSettings, Surface

REFRESH_SECONDS = 30.0
"""How long a list of tracking domains is used."""
_MAX_HOST_BYTES = 255


@dataclass(slots=True)
class TrackingDomains:
    """The confirmed tracking domains of all projects, read again every REFRESH_SECONDS."""

    read: Callable[[], Awaitable[frozenset[str]]]
    now: Callable[[], float] = time.monotonic
    _known: frozenset[str] = frozenset()
    _read_at: float | None = None
    _first: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def has(self, host: str) -> bool:
        """Return whether a host is a tracking domain; of the last known ones without a database."""
        if self._read_at is None:
            async with self._first:
                if self._read_at is None:
                    await self._refresh()
        elif self.now() - self._read_at > REFRESH_SECONDS:
            await self._refresh()
        return host in self._known

    async def _refresh(self) -> None:
        begun, before = self.now(), self._read_at
        if before is not None:
            self._read_at = begun  # other requests do not wait, and use the known ones
        with suppress(Unavailable):
            self._known = await self.read()
        self._read_at = begun


@dataclass(slots=True)
class HostRouting:
    """ASGI application that passes a request to the surfaces of its host.

    `app_of` returns the application of some surfaces, with or without the health probes.
    """

    app_of: Callable[[frozenset[Surface], bool], ASGIApp]
    surfaces: frozenset[Surface]
    listeners: ListenerSettings
    domains: TrackingDomains | None
    _all: ASGIApp = field(init=False)
    _unnamed: ASGIApp = field(init=False)
    _links: ASGIApp = field(init=False)
    _app_by_name: Mapping[str, ASGIApp] = field(init=False)

    def __post_init__(self) -> None:
        self._all = self.app_of(self.surfaces, True)
        self._unnamed = self._app(self.listeners.unnamed())
        self._links = self._app(_LINKS)
        names = self.listeners.names.items()
        self._app_by_name = {name: self._app(surfaces) for name, surfaces in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request with those surfaces only."""
        is_request = scope["type"] == "http"
        app = await self._app_of_host(host_of(scope)) if is_request else self._all
        await app(scope, receive, send)

    def _app(self, surfaces: frozenset[Surface]) -> ASGIApp:
        # A name of links alone answers nothing else, not even a probe.
        return self.app_of(self.surfaces & surfaces, surfaces != _LINKS)

    async def _app_of_host(self, host: str) -> ASGIApp:
        listed = self._app_by_name.get(host)
        if listed is not None:
            return listed
        is_own = host in self.listeners.own_hosts or "." not in host or not host[-1:].isalpha()
        if not is_own and self.domains is not None and await self.domains.has(host):
            return self._links
        return self._unnamed


_LINKS = frozenset({Surface.PUBLIC})


def host_of(scope: Scope) -> str:
    """Return the host of a request in lower case, without its port; empty without one. Pure."""
    given = next((value for name, value in scope["headers"] if name == b"host"), b"")
    host = given[:_MAX_HOST_BYTES].decode("latin-1").lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].rstrip(".")
