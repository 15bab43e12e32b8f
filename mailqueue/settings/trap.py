"""Settings of the built-in mail trap. Values only."""

from dataclasses import dataclass

from mailqueue.core.secret import Secret


@dataclass(frozen=True, slots=True)
class TrapSettings:
    """The built-in mail trap; `password` is required if `host` is not loopback."""

    is_on: bool
    host: str
    port: int
    password: Secret | None
