"""Creates the login role and the database of an embedded server."""

from psycopg import sql

from mailqueue.db.fetch import many, value
from mailqueue.db.pool import connect
from mailqueue.db.statements import schema as schema_sql
from mailqueue.settings.environment import DatabaseSettings


async def provision(
    superuser: DatabaseSettings, *, role: str, password: str, database: str
) -> None:
    """Ensure that the role can log in with the password and owns the database.

    The role may create roles, which migrations need, and read server statistics and the data
    directory, which health checks need; it is not a superuser.
    """
    async with connect(superuser, application_name="mailqueue/provision") as conn:
        exists = await many(conn, schema_sql.LIST_ROLES, {"names": [role]}, str)
        verb = "ALTER" if exists else "CREATE"
        await conn.execute(
            sql.SQL(verb + " ROLE {} LOGIN CREATEROLE PASSWORD {}").format(
                sql.Identifier(role), sql.Literal(password)
            )
        )
        await conn.execute(sql.SQL("GRANT pg_monitor TO {}").format(sql.Identifier(role)))
        if not await value(conn, schema_sql.DATABASE_EXISTS, {"name": database}, bool):
            await conn.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(
                    sql.Identifier(database), sql.Identifier(role)
                )
            )
