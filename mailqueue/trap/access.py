"""Access to the trap: open on loopback, by password elsewhere. Pure."""

import hmac
from ipaddress import ip_address

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server on that host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_password(host: str, password: Secret | None) -> None:
    """Refuse to show caught mail to a network without a password.

    Raises:
        ConfigError: naming the variable.
    """
    if not password and not is_loopback(host):
        raise ConfigError(
            f"MAILQUEUE_TRAP_PASSWORD: must be set when the trap is reachable from outside "
            f"this machine (host {host}); --no-trap runs without a trap"
        )


def is_password(given: str, password: Secret) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), password.reveal().encode())
