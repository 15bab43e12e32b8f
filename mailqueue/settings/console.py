"""Settings of the console. Values."""

from dataclasses import dataclass

from mailqueue.settings.link_mail import LinkMail
from mailqueue.settings.oidc import OidcLogin

CONSOLE_PORT = 8081
"""Port of `mailqueue console`, unless another is given."""


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Where `mailqueue console` listens, and the URL by which people reach the console.

    `url` None: the address of the connection, without encryption.
    """

    host: str = "127.0.0.1"
    port: int = CONSOLE_PORT
    url: str | None = None  # https, or http on this host; without a final slash
    oidc: OidcLogin | None = None  # None: users log in with a password only
    # Whether users with a password turn on a second factor before they see anything else.
    requires_second_factor: bool = False
    mail: LinkMail | None = None  # None: links are shown, and never mailed
