"""Decides what probes are told: whether this process lives, and whether mail can be handed in."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.api.http import store
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import NoRoom, Unavailable
from mailqueue.db.migrate import status_of
from mailqueue.db.migrations import Schema, read_schema
from mailqueue.db.pool import Pool, borrow
from mailqueue.db.sql import sql_folder
from mailqueue.settings.environment import DatabaseSettings


def health_routes(pool: Pool, database: DatabaseSettings) -> list[BaseRoute]:
    """Return `/healthz`, which asks nobody, and `/readyz`, which asks the database."""
    readiness = _Readiness(pool, database, read_schema(sql_folder()))
    return [Route("/healthz", alive), Route("/readyz", readiness.answer)]


async def alive(request: Request) -> Response:  # noqa: ARG001
    """Say that the process answers: restart it only where this fails."""
    return json_answer({"status": "alive"})


@dataclass(frozen=True, slots=True)
class _Readiness:
    pool: Pool
    database: DatabaseSettings
    schema: Schema

    async def answer(self, request: Request) -> Response:  # noqa: ARG002
        """Return whether a mail handed in here now would be accepted; else 503 with what is
        missing.

        A schema newer than this process is no fault: it goes on until it is started anew.
        """
        async with borrow(self.pool, self.database) as conn:
            found = await status_of(conn, self.schema)
            if found.pending:
                raise Unavailable(
                    f"the database is at {found.version}, this mailqueue needs "
                    f"{self.schema.newest}: run `mailqueue migrate`"
                )
            if (why := await store.find_refusal(conn)) is not None:
                raise NoRoom(f"mail is not accepted now: {why}")
        return json_answer({"status": "ready"})
