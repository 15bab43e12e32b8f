"""Settings of the console. Values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Where `mailqueue console` listens, and the URL by which people reach the console.

    `url` None: the address of the connection, without encryption.
    """

    host: str = "127.0.0.1"
    port: int = 8081
    url: str | None = None  # https, or http on this host; without a final slash
