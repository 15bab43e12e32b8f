"""The OAuth client at Google, by which inboxes at Gmail are watched. Values."""

import re
from dataclasses import dataclass
from typing import Protocol

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret

_TOPIC = re.compile(r"projects/[a-z0-9:.-]{1,100}/topics/[A-Za-z][A-Za-z0-9._~+%-]{2,254}")


@dataclass(frozen=True, slots=True)
class GmailSettings:
    """A client of type "web application"; `url` replaces the hosts of Google.

    `topic` is what Gmail pushes to, None: inboxes are only polled; `push_account` is the service
    account whose tokens Pub/Sub sends.
    """

    client_id: str
    client_secret: Secret
    url: str | None = None
    topic: str | None = None
    push_account: str | None = None


class _Variables(Protocol):
    @property
    def gmail_client_id(self) -> str | None: ...
    @property
    def gmail_client_secret(self) -> Secret | None: ...
    @property
    def gmail_url(self) -> str | None: ...
    @property
    def gmail_topic(self) -> str | None: ...
    @property
    def gmail_push_account(self) -> str | None: ...


def gmail_of(env: _Variables) -> GmailSettings | None:
    """Return the settings of these variables; None if there is no client.

    Raises:
        ConfigError: the id or the secret of the client is missing, or the topic is not one.
    """
    if (env.gmail_topic is None) != (env.gmail_push_account is None):
        raise ConfigError("MAILQUEUE_GMAIL_TOPIC and MAILQUEUE_GMAIL_PUSH_ACCOUNT: set both")
    if env.gmail_topic is not None and _TOPIC.fullmatch(env.gmail_topic) is None:
        raise ConfigError("MAILQUEUE_GMAIL_TOPIC: must be projects/PROJECT/topics/TOPIC")
    if env.gmail_client_id is None and env.gmail_client_secret is None:
        return None
    if env.gmail_client_id is None or env.gmail_client_secret is None:
        raise ConfigError("MAILQUEUE_GMAIL_CLIENT_ID and MAILQUEUE_GMAIL_CLIENT_SECRET: set both")
    return GmailSettings(
        env.gmail_client_id,
        env.gmail_client_secret,
        env.gmail_url,
        env.gmail_topic,
        env.gmail_push_account,
    )
