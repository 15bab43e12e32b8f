"""Settings of the mail by which users of the console get links. Pure."""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote, urlsplit

from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.settings.tracking import is_here

_PORTS = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class LinkMail:
    """The server that takes such mail, and the address that it is from."""

    sender: str
    host: str
    port: int
    tls: Literal["implicit", "starttls", "none"]
    username: str = ""
    password: Secret = field(default_factory=lambda: Secret(""))


def mail_of(url: Secret | None, sender: str | None, console_url: str | None) -> LinkMail | None:
    """Return the settings of these variables; None if there are none.

    Raises:
        ConfigError: one is missing or invalid. The message has nothing of the URL, which has a
            password.
    """
    if url is None and sender is None:
        return None
    for name, value, why in (
        ("MAIL_URL", url, "the server, such as smtps://user:password@smtp.example.com"),
        ("MAIL_FROM", sender, "the address that mail with links is from"),
        ("URL", console_url, "links in mail lead there"),
    ):
        if not value:
            raise ConfigError(f"MAILQUEUE_CONSOLE_{name}: required to mail links: {why}")
    try:
        parse_address(sender or "")
    except InvalidAddress as exc:
        raise ConfigError(f"MAILQUEUE_CONSOLE_MAIL_FROM: {exc}") from exc
    try:
        parts = urlsplit(url.reveal() if url else "")
        port = parts.port
    except ValueError:
        raise _invalid() from None
    is_more = parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme not in _PORTS or not parts.hostname or is_more:
        raise _invalid()
    is_open = parts.scheme == "smtp" and is_here(parts.hostname)
    return LinkMail(
        sender=sender or "",
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        tls="implicit" if parts.scheme == "smtps" else "none" if is_open else "starttls",
        username=unquote(parts.username or ""),
        password=Secret(unquote(parts.password or "")),
    )


def _invalid() -> ConfigError:
    return ConfigError(
        "MAILQUEUE_CONSOLE_MAIL_URL: must be smtps://USER:PASSWORD@HOST:PORT,"
        " or smtp:// for STARTTLS"
    )
