"""Settings of the HTTP listeners: what is served where, and under which host names. Values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit


class Surface(StrEnum):
    """A part of what is served by HTTP."""

    API = "api"  # with its documents, compatible APIs and the pages of the mail trap
    CONSOLE = "console"
    PUBLIC = "public"  # links in mail, preferences, unsubscribing, webhooks of providers


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Host and port of the HTTP API; port 0 is any free port.

    `project_requests`: most requests of one project that a process answers at the same time.
    """

    host: str
    port: int
    project_requests: int


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """Addresses of surfaces that do not share the address of the API, and names of each.

    A port of None: the surface is served on the address of the API. `names` are the surfaces of
    each host name; a surface without a name is served under every name that is not listed.
    """

    public_host: str = "127.0.0.1"
    public_port: int | None = None
    console_port: int | None = None
    names: Mapping[str, frozenset[Surface]] = field(default_factory=dict)
    own_hosts: frozenset[str] = frozenset()
    """Hosts of the public URL and of the console's, which no project can take."""

    def unnamed(self) -> frozenset[Surface]:
        """Return the surfaces without a name of their own."""
        return frozenset(Surface).difference(*self.names.values())


def names_of(names_by_surface: Mapping[Surface, Iterable[str]]) -> dict[str, frozenset[Surface]]:
    """Return the surfaces of each host name. Pure."""
    found: dict[str, frozenset[Surface]] = {}
    for surface, names in names_by_surface.items():
        for name in names:
            found[name] = found.get(name, frozenset()) | {surface}
    return found


def hosts_of(*urls: str | None) -> frozenset[str]:
    """Return the hosts of URLs. Pure."""
    hosts = (urlsplit(url).hostname for url in urls if url is not None)
    return frozenset(host.lower() for host in hosts if host)
