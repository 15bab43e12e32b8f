"""The OAuth client at Google, by which inboxes at Gmail are watched. Values."""

from dataclasses import dataclass
from typing import Protocol

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret


@dataclass(frozen=True, slots=True)
class GmailSettings:
    """A client of type "web application"; `url` replaces the hosts of Google."""

    client_id: str
    client_secret: Secret
    url: str | None = None


class _Variables(Protocol):
    @property
    def gmail_client_id(self) -> str | None: ...
    @property
    def gmail_client_secret(self) -> Secret | None: ...
    @property
    def gmail_url(self) -> str | None: ...


def gmail_of(env: _Variables) -> GmailSettings | None:
    """Return the settings of these variables; None if there is no client.

    Raises:
        ConfigError: the id or the secret of the client is missing.
    """
    if env.gmail_client_id is None and env.gmail_client_secret is None:
        return None
    if env.gmail_client_id is None or env.gmail_client_secret is None:
        raise ConfigError("MAILQUEUE_GMAIL_CLIENT_ID and MAILQUEUE_GMAIL_CLIENT_SECRET: set both")
    return GmailSettings(env.gmail_client_id, env.gmail_client_secret, env.gmail_url)
