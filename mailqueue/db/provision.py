"""Makes the login role and the database of a server that is ours alone."""

from psycopg import sql

from mailqueue.db.fetch import many, value
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings


async def provision(
    superuser: DatabaseSettings, *, role: str, password: str, database: str
) -> None:
    """See to it that the role may log in with the password and owns the database.

    The role may create roles, which migrating needs, and see what the server does and where its
    data lies, which health checks need; it is no superuser.
    """
    async with connect(superuser, application_name="mailqueue/provision") as conn:
        exists = await many(conn, "list_roles", {"names": [role]}, str)
        verb = "ALTER" if exists else "CREATE"
        await conn.execute(
            sql.SQL(verb + " ROLE {} LOGIN CREATEROLE PASSWORD {}").format(
                sql.Identifier(role), sql.Literal(password)
            )
        )
        await conn.execute(sql.SQL("GRANT pg_monitor TO {}").format(sql.Identifier(role)))
        if not await value(conn, "database_exists", {"name": database}, bool):
            await conn.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(
                    sql.Identifier(database), sql.Identifier(role)
                )
            )
