"""The trap's sender accounts: one for each project while the trap runs, never a fallback."""

from mailqueue.db.fetch import Conn
from mailqueue.senders.store import accounts as accounts_store

LOOPBACK = "127.0.0.1"


async def point_to_trap(conn: Conn, *, port: int | None) -> None:
    """Set the port of the trap on this machine in all its accounts; None pauses them."""
    if port is None:
        await accounts_store.pause_trap(conn)
    else:
        await accounts_store.keep_trap(conn, host=LOOPBACK, port=port)
