"""SQL of services and of the processes that run them."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.contract.infrastructure import ServiceSeen
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.operations import services as sql


async def keep(
    conn: Conn,
    launch_id: UUID,
    services: Sequence[str],
    *,
    host: str,
    pid: int,
    version: str,
    is_in_up: bool,
) -> None:
    """Write the heartbeat of the listeners of a process; without any, it has ended."""
    values = {
        "launch_id": launch_id,
        "services": list(services),
        "host": host,
        "pid": pid,
        "version": version,
        "is_in_up": is_in_up,
    }
    await fetch.run(conn, sql.KEEP_SERVICES, values)


async def list_all(conn: Conn) -> list[ServiceSeen]:
    """Return each service, in the order of the registry."""
    return await fetch.many(conn, sql.LIST_SERVICES, None, ServiceSeen)
