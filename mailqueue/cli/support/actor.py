"""The operating system user, for the audit log; database logins are often shared."""

import getpass
import socket


def operator() -> str:
    """Return user and host, as user@host."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as containers have
        name = "?"
    return f"{name}@{socket.gethostname()}"
