"""Translates PostgreSQL errors inside a command into messages with a fix."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import DatabaseError, OperationalError
from psycopg.errors import (
    InsufficientPrivilege,
    ReadOnlySqlTransaction,
    UndefinedColumn,
    UndefinedFunction,
    UndefinedTable,
)

from mailqueue.core.errors import ConfigError
from mailqueue.db.faults import address_of, project_full, unavailable
from mailqueue.settings.environment import DatabaseSettings


@contextmanager
def reported(settings: DatabaseSettings) -> Iterator[None]:
    """Translate a lost server, a full project, a missing privilege and an older schema."""
    try:
        yield
    except (OperationalError, ReadOnlySqlTransaction) as exc:
        raise unavailable(exc, settings) from exc
    except InsufficientPrivilege as exc:
        user = address_of(settings)["user"]
        raise ConfigError(
            f'the database user "{user}" lacks a privilege ({exc.diag.message_primary}): '
            "connect as a user who has it"
        ) from exc
    except (UndefinedTable, UndefinedColumn, UndefinedFunction) as exc:
        raise ConfigError(
            f"the database schema is too old ({exc.diag.message_primary}): run `mailqueue migrate`"
        ) from exc
    except DatabaseError as exc:
        if (full := project_full(exc)) is not None:
            raise full from exc
        raise
