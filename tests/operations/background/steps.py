"""Begins operations that workers carry out, and lets a worker carry them out."""

from collections.abc import Mapping

from mailqueue.contract.background import BackgroundOperation
from mailqueue.db.fetch import Conn
from mailqueue.operations import background
from mailqueue.operations.background import OperationVerb
from mailqueue.operations.handler import OperationHandler
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.working import work_once

SPRING = {"subject": "spring"}


async def begun(
    conn: Conn,
    where: Mapping[str, str] = SPRING,
    *,
    verb: OperationVerb = OperationVerb.HOLD,
    project: str = "default",
) -> BackgroundOperation:
    project_id = await make.project_named(conn, project)
    return await background.begin(
        conn, project_id, verb=verb, where=where, reason="wrong price", by="ann"
    )


async def begun_as(conn: Conn, mode: str) -> BackgroundOperation:
    """Begin an operation as a `test` or a `live` key does."""
    async with conn.transaction():
        await conn.execute("SELECT set_config('mailqueue.mode', %s, true)", (mode,))
        return await begun(conn)


async def worked(database: DatabaseSettings) -> int:
    """Let a worker claim once; return the number of operations that it handled."""
    return await work_once(database, "operations", OperationHandler(database))


async def subjects(conn: Conn, status: str) -> list[str]:
    query = "SELECT subject FROM mailqueue.emails WHERE status = %s ORDER BY subject"
    return [row[0] for row in await make.rows(conn, query, status)]


async def found(conn: Conn, operation: BackgroundOperation) -> BackgroundOperation:
    return await background.find(conn, None, operation.id)


async def actions(conn: Conn) -> list[tuple[str, object]]:
    query = (
        "SELECT action, detail ->> 'emails' FROM mailqueue.audit_events"
        " WHERE action LIKE 'operation.%%' ORDER BY id"
    )
    return [(row[0], row[1]) for row in await make.rows(conn, query)]
