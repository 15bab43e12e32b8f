"""Hears out who sends a body that is too large, so that he hears that it is.

Clients that write all of a request before they read anything see a connection that is closed
meanwhile as broken, and try again.
"""

import asyncio
from contextlib import suppress
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request

from mailqueue.api.http.body import body_of, head_of

MAX_UNREAD = 64 * 1024 * 1024
SECONDS = 20.0


async def heard_out(request: Request, *, most: int) -> bytes:
    """Read the body; what is too large is read to its end and thrown away, within bounds.

    Raises:
        HTTPException: as `body_of` does.
    """
    try:
        return await body_of(request, most=most)
    except HTTPException as exc:
        # Who asks first whether he may send has not begun, and hears the answer.
        is_sending = b"expect" not in head_of(request)
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
