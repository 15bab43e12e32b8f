"""Health probes: whether this process is alive, and whether it can accept emails."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.api.http import store
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import StorageFull, Unavailable
from mailqueue.db.migrate import find_behind
from mailqueue.db.migrations import migration_versions
from mailqueue.db.pool import Pool, borrow
from mailqueue.db.sql import sql_folder
from mailqueue.settings.environment import DatabaseSettings


def health_routes(pool: Pool, database: DatabaseSettings) -> list[BaseRoute]:
    """Return the routes `/livez` (process only) and `/readyz` (database too).

    `/healthz` is another name of `/livez`.
    """
    readiness = _Readiness(pool, database, migration_versions(sql_folder()))
    return [
        Route("/livez", alive),
        Route("/healthz", alive),
        Route("/readyz", readiness.answer),
    ]


async def alive(request: Request) -> Response:  # noqa: ARG001
    """Return 200: the process is alive. Restart it only if this fails."""
    return json_answer({"status": "alive"})


@dataclass(frozen=True, slots=True)
class _Readiness:
    pool: Pool
    database: DatabaseSettings
    migrations: frozenset[int]

    async def answer(self, request: Request) -> Response:  # noqa: ARG002
        """Return 200 if emails are accepted now; otherwise 503 with the reason.

        A schema newer than this process is not an error, so that upgrades need no downtime.
        """
        async with borrow(self.pool, self.database) as conn:
            if (why := await find_behind(conn, self.migrations)) is not None:
                raise Unavailable(why)
            if (why := await store.find_refusal(conn)) is not None:
                raise StorageFull(f"mail is not accepted now: {why}")
        return json_answer({"status": "ready"})
