"""What is asked of an HTTP server and what it says; where it stands. Values only."""

import re
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from mailqueue.core.outbound_guard import Network, normal_host

USUAL_PORT_BY_SCHEME = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Site:
    """One scheme, host and port; `prefix` is put before the path of every call."""

    scheme: str
    host: str
    port: int
    prefix: str = ""

    @property
    def authority(self) -> str:
        """Return what stands in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.port == USUAL_PORT_BY_SCHEME[self.scheme]:
            return host
        return f"{host}:{self.port}"


def site_of(url: str) -> Site:
    """Read where an API is, such as https://api.eu.example.net or http://127.0.0.1:8080. Pure.

    Raises:
        ValueError: if it is no such address; the message says why.
    """
    if not url.isascii() or not url.isprintable() or re.search(r"[\s\\]", url):
        raise ValueError(f"{url!r} is not a URL")
    parts = urlsplit(url)
    if parts.scheme not in USUAL_PORT_BY_SCHEME:
        raise ValueError(f"{url!r} does not begin with https:// or http://")
    if "@" in parts.netloc or parts.query or parts.fragment or not parts.hostname:
        raise ValueError(f"{url!r} may hold a host, a port and a path, and nothing else")
    host = normal_host(f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname)
    port = parts.port or USUAL_PORT_BY_SCHEME[parts.scheme]
    return Site(parts.scheme, host, port, parts.path.rstrip("/"))


@dataclass(frozen=True, slots=True)
class Reach:
    """Which addresses may be connected to, and who looks names up; see `smtp.dial`."""

    allow_private: bool = False
    allowed_networks: tuple[Network, ...] = ()
    lookups: Executor | None = None


NOWHERE_INSIDE = Reach()


@dataclass(frozen=True, slots=True)
class HttpTimeouts:
    """Waits in seconds.

    `read_s` is long on purpose: the provider may have accepted, and giving up early makes
    duplicates.
    """

    connect_s: float = 20.0  # resolve, connect and secure, all addresses together
    read_s: float = 60.0  # without a byte of the answer
    call_s: float = 120.0  # from the first byte sent to the last byte of the answer


USUAL = HttpTimeouts()


@dataclass(frozen=True, slots=True)
class Reading:
    """How much of an answer's body matters.

    `body_s` None: a success is none without its whole body. Else the status says it all, and what
    comes of the body within so many seconds is enough.
    """

    most_bytes: int = 1024 * 1024
    body_s: float | None = None


WHOLE = Reading()


@dataclass(frozen=True, slots=True, repr=False)
class Call:
    """One request. It is never printed: its headers hold credentials, its body a mail."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Return whether the status is one of success."""
        return 200 <= self.status < 300

    def document(self) -> Any:
        """Return the JSON of the body; None if it is none."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return None
