"""Reading of a request body into a temporary file, bounded in size and time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from mailqueue.api.http.requests.body import BODY_SECONDS

IN_MEMORY_BYTES = 1024 * 1024
LEAST_BYTES_A_SECOND = 16 * 1024
"""Minimum speed in bytes per second, after BODY_SECONDS of grace; slower clients get 408."""


@asynccontextmanager
async def spooled(request: Request, *, max_bytes: int) -> AsyncIterator[BinaryIO]:
    """Yield the body as a file that is deleted after the block.

    Raises:
        HTTPException: 413 beyond `max_bytes`, 408 when it is sent too slowly, 415 when compressed.
    """
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must not be compressed")
    with SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as file:
        kept = cast(BinaryIO, file)
        try:
            async with asyncio.timeout(BODY_SECONDS + max_bytes / LEAST_BYTES_A_SECOND):
                await _fill(kept, request, max_bytes)
        except TimeoutError:
            why = "the body was sent too slowly"
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, why, {"Connection": "close"}) from None
        except ClientDisconnect:
            raise HTTPException(HTTPStatus.BAD_REQUEST, "the body ended early") from None
        kept.seek(0)
        yield kept


async def _fill(file: BinaryIO, request: Request, max_bytes: int) -> None:
    loop = asyncio.get_running_loop()
    began, size = loop.time(), 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_bytes:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the body is too large: at most {max_bytes // (1024 * 1024)} MiB are allowed",
            )
        if loop.time() - began > BODY_SECONDS + size / LEAST_BYTES_A_SECOND:
            raise TimeoutError
        await asyncio.to_thread(file.write, chunk) if size > IN_MEMORY_BYTES else file.write(chunk)
