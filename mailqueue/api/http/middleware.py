"""Middleware for every request: a request id, a log line without secrets, connections kept."""

import asyncio
import logging
import os
import re
import time
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from mailqueue.api.http.request_metrics import count_request
from mailqueue.api.http.responses import AWAY, HEAD, IS_NAMED, REQUEST_ID
from mailqueue.core.asgi import CLOSING
from mailqueue.telemetry.log import get_logger

_TOKEN = re.compile(r"^(/(?:inbound/[^/]{1,40}|t/[a-z]|pref|confirm|exports|data)/).+")
_ADDRESS = re.compile(r"(?<![^/])[^/]+@[^/]*")
_GIVEN = re.compile(rb"[A-Za-z0-9._-]{8,64}")
FAILED = "mailqueue.failed"
"""Key in the request scope: whether an unexpected error was answered as such."""
log = get_logger(__name__)


class RequestMiddleware:
    """ASGI middleware that adds request ids and log lines."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[REQUEST_ID] = _request_id(scope)
        began = time.perf_counter()
        status = 0

        async def answer(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", scope[REQUEST_ID].encode()),
                ]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            scope[FAILED] = status == HTTPStatus.INTERNAL_SERVER_ERROR
            raise
        finally:
            seconds = time.perf_counter() - began
            count_request(scope, status, seconds)
            _note(scope, status, request_id=scope[REQUEST_ID], seconds=seconds)


class ConnectionKeeper:
    """ASGI wrapper for a server: after an error that was answered, the connection stays open.

    Servers close the connection of a request that raised, and the client's next one is lost.
    `closing` is set when the server stops.
    """

    def __init__(self, app: ASGIApp, closing: asyncio.Event) -> None:
        self._app = app
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[CLOSING] = self._closing
        try:
            await self._app(scope, receive, send)
        except Exception:
            if not scope.get(FAILED):  # the response ended early: only closing tells the client
                raise
            log.exception("request.failed", request_id=scope[REQUEST_ID])


def _request_id(scope: Scope) -> str:
    """Return the request id sent by the caller, or a new one."""
    head = scope[HEAD] = dict(scope["headers"])
    given = head.get(b"x-request-id")
    if given is not None and _GIVEN.fullmatch(given):
        scope[IS_NAMED] = True
        return str(given, "ascii")
    return os.urandom(9).hex()


def _note(scope: Scope, status: int, *, request_id: str, seconds: float) -> None:
    """Write the log line; successful requests are logged at level debug."""
    if status < 400 and not log.is_enabled_for(logging.DEBUG):
        return
    write = log.debug if status < 400 else log.info if status < 500 else log.error
    write(
        "request.answered",
        method=scope["method"],
        # Without the query, which may hold addresses.
        # Without tokens and addresses in the path.
        path=_ADDRESS.sub("…", _TOKEN.sub(r"\1…", scope["path"][:200])),
        status=status,
        response_ms=round(1000 * seconds, 1),
        request_id=request_id,
        client=(scope.get("client") or ("",))[0],
        **({"why": scope[AWAY]} if AWAY in scope else {}),
    )
