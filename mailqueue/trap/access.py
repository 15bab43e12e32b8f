"""Access to the trap: open on loopback, by password elsewhere. Pure."""

import hmac
from ipaddress import ip_address

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret


def is_loopback(host: str) -> bool:
    """Return whether a server on that host is reachable from this host only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_password(host: str, password: Secret | None) -> None:
    """Require a password if the trap is reachable from other hosts.

    Raises:
        ConfigError: none is set; the message names the variable.
    """
    if not password and not is_loopback(host):
        raise ConfigError(
            f"MAILQUEUE_TRAP_PASSWORD: must be set if the trap is reachable from other "
            f"hosts (host {host}); --no-trap runs without a trap"
        )


def is_password(text: str, password: Secret) -> bool:
    """Return whether the password is right, in constant time."""
    return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), password.reveal().encode())
