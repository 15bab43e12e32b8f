"""Where bounce mail is taken in. Values only."""

from dataclasses import dataclass

DEFAULT_PORT = 2526


@dataclass(frozen=True, slots=True)
class BounceSettings:
    """Where SMTP and LMTP are served to a relay, or to all the world as an MX.

    `port` None is the usual one of `mailqueue worker bounces`, and none in `mailqueue up`; 0 picks
    a free one. `domains` are taken beside those of projects.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    domains: tuple[str, ...] = ()
    name: str | None = None  # None: the machine's
