"""A database that is its own replica, in which nothing can be written."""

from dataclasses import replace

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.replica import APPLICATION
from mailqueue.settings.environment import DatabaseSettings
from tests import make

_SESSIONS = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = %s
"""


def beside(database: DatabaseSettings) -> DatabaseSettings:
    """Return settings whose replica is the same database, read only, with one connection."""
    return replace(database, replica=Secret(read_only(database.url.reveal())), pool_max=1)


def read_only(url: str) -> str:
    """Return a connection string with which nothing can be written."""
    return f"{url}{'&' if '?' in url else '?'}options=-c%20default_transaction_read_only%3Don"


async def sessions(conn: Conn) -> int:
    """Return the number of connections for reports to this database."""
    found: int = await make.scalar(conn, _SESSIONS, APPLICATION)
    return found
