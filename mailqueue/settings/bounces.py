"""Settings of the server that receives bounce messages. Values."""

import re
from dataclasses import dataclass

DEFAULT_PORT = 2526
_DOMAIN = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class BounceSettings:
    """Host and ports of SMTP and LMTP, for a relay or as an MX.

    `port` None is the default port in `mailqueue worker bounces`, and no port in `mailqueue up`; 0
    is any free port. `domains` are accepted in addition to those of projects.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    domains: tuple[str, ...] = ()
    name: str | None = None  # None: the host's name


def parse_domains(value: object) -> object:
    """Return domains that are separated by spaces or commas; other values unchanged.

    Raises:
        ValueError: one is not a domain.
    """
    if not isinstance(value, str):
        return value
    words = value.lower().replace(",", " ").split()
    if wrong := [word for word in words if not _DOMAIN.fullmatch(word)]:
        raise ValueError(f"must be domains such as bounces.example.com, got {wrong[0]!r}")
    return tuple(words)
