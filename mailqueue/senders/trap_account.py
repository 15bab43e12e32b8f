"""The trap as a sender account: each project has one while it runs. It is never a fallback."""

from mailqueue.db.fetch import Conn
from mailqueue.senders.store import accounts as accounts_store

LOOPBACK = "127.0.0.1"


async def point_to_trap(conn: Conn, *, port: int | None) -> None:
    """Tell the projects where the trap listens on this machine; None: it is off."""
    if port is None:
        await accounts_store.pause_trap(conn)
    else:
        await accounts_store.keep_trap(conn, host=LOOPBACK, port=port)
