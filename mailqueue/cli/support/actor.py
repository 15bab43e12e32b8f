"""Who sits at the command line, for the audit: the login of the database is often everybody's."""

import getpass
import socket


def operator() -> str:
    """Return the user of this machine and the machine."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as containers have
        name = "?"
    return f"{name}@{socket.gethostname()}"
