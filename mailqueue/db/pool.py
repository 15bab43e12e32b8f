"""Opens connections to PostgreSQL: a pool for statements, single ones for LISTEN and sessions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import DatabaseError, OperationalError
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool

from mailqueue.core.json.reading import read_json
from mailqueue.core.json.writing import write_json
from mailqueue.db.durable import DurableConnection
from mailqueue.db.faults import address_of, checked, project_full, unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.passwords import OpenedConnection, passwords_of
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource, Pooler

Pool = AsyncConnectionPool[Conn]
CONNECT_SECONDS = 10
ATTEMPT_SECONDS = 3
"""Seconds to connect to a server that another may replace: one of several hosts, or a standby."""
RECONNECT_SECONDS = 3.0
"""Seconds after which a pool stops reconnecting; the next request tries again at once."""
NOTICED = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""TCP keepalive settings that detect a silent server in about ten seconds instead of hours.

A connection string can override them.
"""
NOTICED_SOONER = {"keepalives_idle": 2, "keepalives_interval": 1, "tcp_user_timeout": 4_000}
"""The same where another server may replace it."""


@asynccontextmanager
async def open_pool(
    settings: DatabaseSettings,
    *,
    application_name: str = "mailqueue",
    min_size: int = 1,
    max_size: int | None = None,
    is_required: bool = True,
) -> AsyncIterator[Pool]:
    """Open a pool of autocommit connections, each checked before use if its last answer is old.

    `max_size` None is the connection string's `pool_max`, else 10. `is_required` says whether the
    server has to answer now.

    Raises:
        Unavailable: no connection can be opened now, and the server is required.
        ConfigError: no usable connection string is set.
    """
    if is_required:
        # One connection first: the error of a pool that cannot fill is only a timeout.
        async with connect(settings, application_name=application_name):
            pass
    largest = max_size or settings.pool_max
    pool: Pool = AsyncConnectionPool(
        checked(settings).url.reveal(),
        open=False,
        kwargs=_arguments(settings, application_name),
        min_size=min(min_size, largest),
        max_size=largest,
        configure=_configure,
        # Only a pooler knows that a server went away behind it.
        check=AsyncConnectionPool.check_connection
        if settings.pooler is Pooler.TRANSACTION
        else _check,
        connection_class=OpenedConnection,
        reconnect_timeout=RECONNECT_SECONDS,
        timeout=CONNECT_SECONDS,
        name=application_name,
    )
    async with pool:
        yield pool


@asynccontextmanager
async def borrow(pool: Pool, settings: DatabaseSettings) -> AsyncIterator[Conn]:
    """Yield a connection of the pool.

    Raises:
        Unavailable: the connection to the server was lost.
        ProjectFull: a statement would have exceeded a bound of its project.
    """
    try:
        async with pool.connection() as conn:
            yield conn
    except (OperationalError, ReadOnlySqlTransaction) as exc:
        raise unavailable(exc, settings) from exc
    except DatabaseError as exc:
        if (full := project_full(exc)) is not None:
            raise full from exc
        raise


@asynccontextmanager
async def connect(
    settings: DatabaseSettings, *, application_name: str = "mailqueue"
) -> AsyncIterator[Conn]:
    """Open one autocommit connection outside any pool, and close it when the block ends.

    Raises:
        Unavailable: it cannot be opened; one line with the fix.
        ConfigError: no usable connection string is set.
    """
    conn = await open_connection(settings, application_name=application_name)
    async with conn:
        yield conn


async def open_connection(
    settings: DatabaseSettings, *, application_name: str = "mailqueue"
) -> Conn:
    """Open one autocommit connection that the caller closes."""
    url = checked(settings).url.reveal()
    try:
        conn: Conn = await OpenedConnection.connect(url, **_arguments(settings, application_name))
    except OperationalError as exc:
        raise unavailable(exc, settings) from None
    await _configure(conn)
    return conn


def _arguments(settings: DatabaseSettings, application_name: str) -> dict[str, Any]:
    given = conninfo_to_dict(settings.url.reveal())
    usual: dict[str, Any] = {**NOTICED, "connect_timeout": CONNECT_SECONDS}
    is_replica = settings.source is DatabaseSource.REPLICA
    has_several = "," in address_of(settings)["host"]
    if is_replica or has_several:
        usual |= {**NOTICED_SOONER, "connect_timeout": ATTEMPT_SECONDS}
    if has_several:  # else each address would be tried twice
        usual["target_session_attrs"] = "prefer-standby" if is_replica else "read-write"
    arguments: dict[str, Any] = {
        **{name: value for name, value in usual.items() if name not in given},
        "autocommit": True,
        "application_name": application_name,
        "passwords": passwords_of(settings),
    }
    if settings.pooler is Pooler.TRANSACTION:
        arguments["prepare_threshold"] = None
    return arguments


async def _check(conn: Conn) -> None:
    """Ask the server for a sign of life, unless it has just given one: that is a round trip."""
    if not (isinstance(conn, DurableConnection) and conn.is_fresh()):
        await AsyncConnectionPool.check_connection(conn)


async def _configure(conn: Conn) -> None:
    set_json_dumps(write_json, conn)
    set_json_loads(read_json, conn)
