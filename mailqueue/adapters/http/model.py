"""HTTP requests and responses, origins, timeouts and limits. Values only."""

import re
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from mailqueue.core.outbound_guard import IpNetwork, normal_host

DEFAULT_PORT_BY_SCHEME = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class HttpOrigin:
    """A scheme, host and port; `prefix` is put before the path of every request."""

    scheme: str
    host: str
    port: int
    prefix: str = ""

    @property
    def authority(self) -> str:
        """Return the value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.port == DEFAULT_PORT_BY_SCHEME[self.scheme]:
            return host
        return f"{host}:{self.port}"


def read_origin(url: str) -> HttpOrigin:
    """Parse the base URL of an API, such as https://api.example.net or http://127.0.0.1:8080. Pure.

    Raises:
        ValueError: the URL is not valid; the message says why.
    """
    if not url.isascii() or not url.isprintable() or re.search(r"[\s\\]", url):
        raise ValueError(f"{url!r} is not a URL")
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORT_BY_SCHEME:
        raise ValueError(f"{url!r} does not begin with https:// or http://")
    if "@" in parts.netloc or parts.query or parts.fragment or not parts.hostname:
        raise ValueError(f"{url!r} may hold a host, a port and a path, and nothing else")
    host = normal_host(f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname)
    port = parts.port or DEFAULT_PORT_BY_SCHEME[parts.scheme]
    return HttpOrigin(parts.scheme, host, port, parts.path.rstrip("/"))


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """Addresses that may be connected to, and the executor for DNS lookups; see `dial`."""

    allow_private: bool = False
    allowed_networks: tuple[IpNetwork, ...] = ()
    lookups: Executor | None = None


PUBLIC_ONLY = NetworkPolicy()


@dataclass(frozen=True, slots=True)
class HttpTimeouts:
    """Waits in seconds.

    `read_s` is long on purpose: the provider may have accepted the request, and giving up early
    sends duplicates.
    """

    connect_s: float = 20.0  # resolve, connect and secure, all addresses together
    read_s: float = 60.0  # without a byte of the response
    call_s: float = 120.0  # from the first byte sent to the last byte of the response


DEFAULT_TIMEOUTS = HttpTimeouts()


@dataclass(frozen=True, slots=True)
class ResponseLimits:
    """How much of a response's body is read.

    With `body_s` None a success needs its whole body. Else the status is enough, and the body is
    read for at most `body_s` seconds.
    """

    max_bytes: int = 1024 * 1024
    body_s: float | None = None


WHOLE_BODY = ResponseLimits()


@dataclass(frozen=True, slots=True, repr=False)
class HttpRequest:
    """One request. It has no repr: its headers hold credentials and its body an email."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The response of a server; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Return whether the status is 2xx."""
        return 200 <= self.status < 300

    def document(self) -> Any:
        """Return the body parsed as JSON; None if it is not JSON."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return None
