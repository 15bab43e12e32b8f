"""Settings of the server that receives bounce messages. Values only."""

from dataclasses import dataclass

DEFAULT_PORT = 2526


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
