"""Drain an oversized request body, so that the client receives the 413.

A client that writes the whole request before it reads takes a connection closed meanwhile for an
error, and retries.
"""

import asyncio
from contextlib import suppress
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request

from mailqueue.api.http.requests.body import body_of, headers_by_name

MAX_UNREAD = 64 * 1024 * 1024
SECONDS = 20.0


async def drained_body(request: Request, *, max_bytes: int) -> bytes:
    """Return the body; read one that is too large to its end, within limits, and discard it.

    Raises:
        HTTPException: as `body_of` does.
    """
    try:
        return await body_of(request, max_bytes=max_bytes)
    except HTTPException as exc:
        # A client that sent `Expect: 100-continue` has not sent the body, and receives the
        # response.
        is_sending = b"expect" not in headers_by_name(request)
        if exc.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and is_sending:
            with suppress(TimeoutError):
                async with asyncio.timeout(SECONDS):
                    await _thrown_away(request)
        raise


async def _thrown_away(request: Request) -> None:
    left = MAX_UNREAD
    while left > 0:
        message = await request.receive()
        left -= len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
