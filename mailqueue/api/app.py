"""The HTTP API as one application: routes parse, call one verb, answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from uuid import UUID

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.api import mail
from mailqueue.api.answers import (
    answer_error,
    answer_fault,
    answer_http_error,
    invalid_request,
    json_answer,
)
from mailqueue.api.health import health_routes
from mailqueue.api.intake import Intake
from mailqueue.api.model import SendRequest
from mailqueue.api.requests import body_of, key_of, unauthorized
from mailqueue.core.config import DatabaseSettings, Settings
from mailqueue.core.errors import InvalidField, MailqueueError, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.tenants.keys import find_key
from mailqueue.tenants.model import Caller
from mailqueue.trap.access import require_password
from mailqueue.trap.pages import PATHS, trap_pages


def create_app(settings: Settings, pool: Pool, *, with_api: bool = True) -> Starlette:
    """Give the application; the pool is the caller's and stays open as long as it serves.

    The trap's pages are part of it when the trap is on; without the API they stand alone.

    Raises:
        ConfigError: the trap's pages would be reachable from outside without a password.
    """
    routes = _api_routes(pool, settings.database) if with_api else []
    if settings.trap.is_on:
        require_password(settings.api.host, settings.trap.password)
        pages = trap_pages(pool, settings.database, password=settings.trap.password)
        routes += [Route(path, pages) for path in PATHS]
    return Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: answer_http_error,
            MailqueueError: answer_error,
            Exception: answer_fault,
        },
    )


def _api_routes(pool: Pool, database: DatabaseSettings) -> list[BaseRoute]:
    api = _Api(pool, database, Intake(pool, database))
    return [
        Route("/v1/send", api.send, methods=["POST"]),
        Route("/v1/emails/{id}", api.email),
        *health_routes(pool, database),
    ]


@dataclass(frozen=True, slots=True)
class _Api:
    pool: Pool
    database: DatabaseSettings
    intake: Intake

    @asynccontextmanager
    async def called_with(self, key: str) -> AsyncIterator[tuple[Conn, Caller]]:
        """Lend a connection, and say who the key speaks for."""
        async with borrow(self.pool, self.database) as conn:
            caller = await find_key(conn, key)
            if caller is None:
                raise unauthorized("this API key is not valid")
            yield conn, caller

    async def send(self, request: Request) -> Response:
        key = key_of(request)
        body = await body_of(request)
        wanted = _send_request(body, request.headers.get("idempotency-key"))
        sent = await self.intake.send(key, wanted, size=len(body))
        return json_answer(sent, status=HTTPStatus.ACCEPTED)

    async def email(self, request: Request) -> Response:
        key = key_of(request)
        given = request.path_params["id"]
        try:
            email_id = UUID(given)
        except ValueError:
            raise NotFound("email", given[:100]) from None
        async with self.called_with(key) as (conn, caller):
            found = await mail.look_up(conn, caller, email_id)
        # The attempts themselves take the name; how many there were is their count.
        shown = asdict(found.email) | {
            "attempt_count": found.email.attempts,
            "recipients": found.recipients,
            "attempts": found.attempts,
            "events": found.events,
        }
        return json_answer(shown)


def _send_request(body: bytes, idempotency_key: str | None) -> SendRequest:
    try:
        wanted = SendRequest.model_validate_json(body)
    except ValidationError as exc:
        raise invalid_request(exc) from None
    if idempotency_key is None:
        return wanted
    if wanted.idempotency_key not in (None, idempotency_key):
        raise InvalidField("idempotency_key", "the header Idempotency-Key says another")
    return wanted.model_copy(update={"idempotency_key": idempotency_key})
