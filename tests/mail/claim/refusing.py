"""A trigger of the operator that refuses every change of some rows."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.db.fetch import Conn
from tests import make

MESSAGE = "ann@example.com is under legal hold"


async def refuse_changes(conn: Conn, table: str, ids: Sequence[UUID], *, state: str = "") -> None:
    """Refuse every UPDATE of these rows of a table."""
    using = f" USING ERRCODE = '{state}'" if state else ""
    await conn.execute(
        "CREATE FUNCTION public.keep_as_it_is() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{MESSAGE}'{using}; END $$"
    )
    listed = ", ".join(f"'{one}'" for one in ids)
    await conn.execute(
        f"CREATE TRIGGER keep_as_it_is BEFORE UPDATE ON mailqueue.{table} FOR EACH ROW"
        f" WHEN (OLD.id IN ({listed})) EXECUTE FUNCTION public.keep_as_it_is()"
    )


async def accept_changes(conn: Conn, table: str) -> None:
    """Refuse nothing any more."""
    await conn.execute(f"DROP TRIGGER keep_as_it_is ON mailqueue.{table}")
    await conn.execute("UPDATE mailqueue.refused_rows SET retry_at = now()")


async def refused(conn: Conn) -> UUID:
    """Return the id of an email whose change was refused."""
    email = await make.queued_email(conn)
    await conn.execute("SELECT mailqueue.note_refused_row('email_queue', %s, 'x')", (email,))
    return email
