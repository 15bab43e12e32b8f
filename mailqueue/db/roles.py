"""Creates the roles that own and use the schema, before migrations run."""

import asyncio
from dataclasses import dataclass

from psycopg import errors, sql

from mailqueue.core.errors import ConfigError, Unavailable
from mailqueue.db.fetch import Conn, many, one, value
from mailqueue.db.pool import connect
from mailqueue.db.statements import schema as schema_sql
from mailqueue.settings.environment import DatabaseSettings

OWNER = "mailqueue_owner"
ROLES = (
    OWNER,
    "mailqueue_migrator",
    "mailqueue_producer",
    "mailqueue_worker",
    "mailqueue_api",
    "mailqueue_tracking",
    "mailqueue_dba",
)
_RACE_TRIES = 20
_RACE_PAUSE_SECONDS = 0.05
# Since version 16, members of a role can SET ROLE only if that was granted.
_SEPARATE_SET_RIGHT = 160000


@dataclass(frozen=True, slots=True)
class RolePrivileges:
    """The privileges of the connected user."""

    name: str
    database: str
    is_superuser: bool
    can_create_roles: bool
    server_version: int


def check_sessions(database: DatabaseSettings) -> None:
    """Refuse settings without a connection that keeps its role from statement to statement.

    Raises:
        ConfigError: all connections go through a pooler that shares them by transaction.
    """
    if not database.has_sessions:
        raise ConfigError(
            "maintenance needs whole sessions, which MAILQUEUE_POOLER=transaction does not "
            "provide: set MAILQUEUE_DIRECT_URL to PostgreSQL's own address"
        )


async def check_owner(database: DatabaseSettings) -> None:
    """Try on a connection of its own whether this login may act as the schema's owner.

    Raises:
        ConfigError: the connection goes through a pooler.
        Unavailable: PostgreSQL is unavailable, or this login may not; the message says what to run.
    """
    check_sessions(database)
    async with connect(database.for_sessions, application_name="mailqueue/start") as conn:
        await become_owner(conn)


async def become_owner(conn: Conn) -> None:
    """Create missing roles if permitted, and act as the schema's owner from here on.

    Raises:
        Unavailable: an administrator must run statements, which the message contains.
    """
    powers = await one(conn, schema_sql.SHOW_OWN_RIGHTS, None, RolePrivileges)
    await _create_missing(conn, powers)
    await _join_owner(conn, powers)
    if not await value(conn, schema_sql.MAY_CREATE_SCHEMA, {"role": OWNER}, bool):
        await _administer(conn, _may_create(powers), powers)
    await conn.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(OWNER)))


async def _create_missing(conn: Conn, powers: RolePrivileges) -> None:
    existing = set(await many(conn, schema_sql.LIST_ROLES, {"names": list(ROLES)}, str))
    missing = [role for role in ROLES if role not in existing]
    if missing and not powers.can_create_roles:
        statements = [f"CREATE ROLE {role} NOLOGIN;" for role in missing]
        raise _needs_administrator(powers, [*statements, f"GRANT {OWNER} TO {powers.name};"])
    for role in missing:
        await _despite_races(conn, sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))


async def _join_owner(conn: Conn, powers: RolePrivileges) -> None:
    if powers.is_superuser:
        return
    has_set_right = powers.server_version >= _SEPARATE_SET_RIGHT
    params = {"role": OWNER, "act": "SET" if has_set_right else "MEMBER"}
    if await value(conn, schema_sql.IS_MEMBER_OF, params, bool):
        return
    rights = sql.SQL(" WITH INHERIT TRUE, SET TRUE" if has_set_right else "")
    grant = sql.SQL("GRANT {} TO {}").format(sql.Identifier(OWNER), sql.Identifier(powers.name))
    await _administer(conn, grant + rights, powers)


def _may_create(powers: RolePrivileges) -> sql.Composed:
    return sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(
        sql.Identifier(powers.database), sql.Identifier(OWNER)
    )


async def _administer(conn: Conn, statement: sql.Composed, powers: RolePrivileges) -> None:
    try:
        await _despite_races(conn, statement)
    except errors.InsufficientPrivilege:
        raise _needs_administrator(powers, [f"{statement.as_string(conn)};"]) from None


async def _despite_races(conn: Conn, statement: sql.Composed) -> None:
    for _ in range(_RACE_TRIES):
        try:
            await conn.execute(statement)
        except (errors.DuplicateObject, errors.UniqueViolation):
            return
        except errors.InternalError_:  # tuple concurrently updated: a grant in another database
            await asyncio.sleep(_RACE_PAUSE_SECONDS)
        else:
            return
    await conn.execute(statement)


def _needs_administrator(powers: RolePrivileges, statements: list[str]) -> Unavailable:
    return Unavailable(
        f"user {powers.name} lacks the privilege to create the roles of mailqueue: "
        f"an administrator must run, in database {powers.database}: {' '.join(statements)}"
    )
