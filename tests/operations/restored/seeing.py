"""Steps of processes that compare what they have seen with the database."""

from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.queue import store
from tests import make
from tests.mail.claim.steps import claim, mark, sent

EARLIER = "regexp_replace(mailqueue.read_server_identity(), '/[^/]*', '/00000000')"
"""The identity of the server before a promotion."""
PROMOTED = f"UPDATE mailqueue.server_identity SET identity = {EARLIER}"
"""As after a promotion: the table has the identity of the server before."""
COPIED = "UPDATE mailqueue.server_identity SET identity = '7/00000001/5/6'"
"""As after a restore into another cluster."""


async def see(conn: Conn, seen: str | None = None) -> store.ServerSeen:
    return await store.see_server(conn, seen)


async def at_work(conn: Conn) -> tuple[int, UUID]:
    """Return a worker that has marked one mail and sent it, and one mail that is due."""
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_email(conn)
    emails = await claim(conn, worker)
    await mark(conn, worker, emails)
    await sent(conn, emails)
    return worker, await make.queued_email(conn)


async def launch(conn: Conn, worker: int) -> UUID:
    found: UUID = await make.scalar(
        conn, "SELECT launch_id FROM mailqueue.workers WHERE id = %s", worker
    )
    return found


async def beat(conn: Conn, worker: int, seen: str | None, *, marks: int = 0) -> store.Beat:
    return await store.beat(
        conn,
        worker,
        is_stopping=False,
        launch_id=await launch(conn, worker),
        seen=seen,
        marks=marks,
    )


async def earlier(conn: Conn) -> str:
    found: str = await make.scalar(conn, f"SELECT {EARLIER}")
    return found


async def restart_session(conn: Conn) -> None:
    """Forget what the session knows of its server, and what workers may do, as on a new server."""
    await change(conn, "SELECT set_config('mailqueue.server', '', false)")
    await change(conn, "UPDATE mailqueue.workers SET sends_on = 'another server'")


async def change(conn: Conn, statement: str, *values: object) -> None:
    await conn.execute(statement.encode(), values or None)
