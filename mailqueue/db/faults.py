"""One-line messages for errors of PostgreSQL, with the fix and without passwords."""

import os
import re

from psycopg import DatabaseError, DataError, Error, IntegrityError
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import (
    DataCorrupted,
    DiskFull,
    ProgramLimitExceeded,
    RaiseException,
    ReadOnlySqlTransaction,
    StatementTooComplex,
)

from mailqueue.core.errors import (
    ConfigError,
    DatabaseUnavailable,
    MailqueueError,
    ProjectFull,
    StorageFull,
    Unavailable,
)
from mailqueue.db.durable import NotReplicated
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource

PROJECT_FULL = "MQ002"
"""SQLSTATE of statements that would exceed a bound of a project."""
_VARIABLES = {
    DatabaseSource.DIRECT: "MAILQUEUE_DIRECT_URL",
    DatabaseSource.REPLICA: "MAILQUEUE_REPLICA_URL",
}
_NAME = re.compile(r'(?:user|role|database) "([^"]*)"')

# Texts of libpq or the server, and the message for each; the first match is used.
_AUTHENTICATION = (
    "password authentication failed",
    "no password supplied",
    "authentication failed",
)
_AWAY = (
    "connection refused",
    "connection timeout expired",
    "timeout expired",
    "no route to host",
    "network is unreachable",
    "no such file or directory",
    "server closed the connection",
)


OF_DATABASE = (Error, Unavailable)
"""Errors of a statement or its connection, whatever the reason."""

OF_ROWS = (
    *(DataError, IntegrityError, ProgramLimitExceeded, RaiseException, StatementTooComplex),
    DataCorrupted,
)
"""Errors of PostgreSQL about the values of a statement, given or stored."""

OF_THE_SERVER = frozenset({"08", "25", "40", "53", "55", "57", "58"})
"""Classes of SQLSTATE: connections, transactions, conflicts, resources, locks, shutdown, disks."""


def unavailable(exc: Error, settings: DatabaseSettings) -> Unavailable:
    """Return the error for a failed connection or statement, with its fix in one line."""
    if isinstance(exc, DiskFull):
        return StorageFull(exc.diag.message_primary or "PostgreSQL has no disk space left")
    parts = address_of(settings)
    where = f"{parts['host']}:{parts['port']}"
    if isinstance(exc, NotReplicated):
        what = (
            "committed without confirmation of its standby, so a failover may lose it: try again "
            "(mail with an idempotency key is accepted once)"
        )
        return DatabaseUnavailable(
            f"PostgreSQL at {where} {what}", public_message=f"the database {what}"
        )
    if isinstance(exc, ReadOnlySqlTransaction):
        return DatabaseUnavailable(
            f"PostgreSQL at {where} is a read-only standby: {_fix(settings)}"
        )
    return DatabaseUnavailable(_sentence(" ".join(str(exc).split()), where, settings))


def refuses_password(exc: Error) -> bool:
    """Return whether the server refused the password of a new connection."""
    return any(words in str(exc).lower() for words in _AUTHENTICATION)


def project_full(exc: DatabaseError) -> ProjectFull | None:
    """Return the refusal where a project is at one of its bounds; None for any other error."""
    if exc.sqlstate != PROJECT_FULL:
        return None
    return ProjectFull(exc.diag.column_name or "", exc.diag.message_primary or str(exc))


def may_be_of_a_row(exc: Exception) -> bool:
    """Return whether a trigger or a constraint may have raised the error for one row.

    A trigger raises any SQLSTATE; those of the server and of other sessions are of no row.
    """
    state = exc.sqlstate if isinstance(exc, Error) else None
    return concerns_rows(exc) or (state is not None and state[:2] not in OF_THE_SERVER)


def concerns_rows(exc: Exception) -> bool:
    """Return whether single rows may have caused the error, so that other rows can continue.

    Errors such as a lost server or a missing privilege concern all rows.
    """
    return isinstance(exc, OF_ROWS) or not isinstance(exc, Error | MailqueueError)


def _sentence(text: str, where: str, settings: DatabaseSettings) -> str:
    lower, parts, fix = text.lower(), address_of(settings), _fix(settings)
    if any(words in lower for words in _AUTHENTICATION):
        return f'PostgreSQL at {where} refused the password of user "{parts["user"]}": {fix}'
    if "role " in lower and "does not exist" in lower:
        return f'PostgreSQL at {where} has no user "{_named(text, parts["user"])}": {fix}'
    if "database " in lower and "does not exist" in lower:
        name = _named(text, parts["dbname"])
        return f'PostgreSQL at {where} has no database "{name}": create it, or {fix}'
    if "could not translate host name" in lower or "failed to resolve host" in lower:
        return f'the host name "{parts["host"]}" of PostgreSQL cannot be resolved: {fix}'
    if any(words in lower for words in _AWAY):
        return f"PostgreSQL does not answer at {where}: {_start(settings)}"
    return f"PostgreSQL at {where} cannot be used: {_without_password(text, settings)}"


def _fix(settings: DatabaseSettings) -> str:
    if settings.source is DatabaseSource.LIBPQ:
        return "correct the PG* variables"
    if settings.source is DatabaseSource.EMBEDDED:
        return "start `mailqueue up` again, which rewrites its connection string"
    if settings.source in _VARIABLES:
        return f"correct {_VARIABLES[settings.source]}"
    return "correct MAILQUEUE_DATABASE_URL"


def _start(settings: DatabaseSettings) -> str:
    if settings.source is DatabaseSource.EMBEDDED:
        return "start it with `mailqueue up`"
    return f"start it, or {_fix(settings)}"


def _named(text: str, default: str) -> str:
    found = _NAME.search(text)
    return found[1] if found else default


def _without_password(text: str, settings: DatabaseSettings) -> str:
    password = _options(settings).get("password") or os.environ.get("PGPASSWORD")
    return text.replace(str(password), "***") if password else text


def address_of(settings: DatabaseSettings) -> dict[str, str]:
    """Return host, port, user and dbname as libpq reads them, for messages."""
    options = _options(settings)
    user = options.get("user") or os.environ.get("PGUSER") or "?"
    return {
        "host": str(options.get("host") or os.environ.get("PGHOST") or "local socket"),
        "port": str(options.get("port") or os.environ.get("PGPORT") or 5432),
        "user": str(user),
        "dbname": str(options.get("dbname") or os.environ.get("PGDATABASE") or user),
    }


def _options(settings: DatabaseSettings) -> dict[str, str | int | None]:
    try:
        return dict(conninfo_to_dict(settings.url.reveal()))
    except Error:
        # libpq's own message contains the string with its password.
        raise ConfigError(
            f"{_source(settings)} is not a connection string: "
            "write postgresql://user:password@host:port/database"
        ) from None


def _source(settings: DatabaseSettings) -> str:
    if settings.source is DatabaseSource.EMBEDDED:
        return "the file database_url of the data folder"
    if settings.source in _VARIABLES:
        return _VARIABLES[settings.source]
    return "MAILQUEUE_DATABASE_URL or DATABASE_URL"


def checked(settings: DatabaseSettings) -> DatabaseSettings:
    """Return the settings if they name a server in a string that libpq can parse.

    Raises:
        ConfigError: they do not; the message names the variable to set.
    """
    if settings.source is DatabaseSource.NONE:
        raise ConfigError(
            "no database is configured: set MAILQUEUE_DATABASE_URL, "
            "or start `mailqueue up`, which runs its own"
        )
    _options(settings)
    return settings
