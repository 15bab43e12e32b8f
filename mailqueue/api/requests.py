"""Reads what every request has: the key, and a body of bounded size."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from mailqueue.tenants.keytext import is_well_formed

BODY_BYTES = 30 * 1024 * 1024


def key_of(request: Request) -> str:
    """Give the API key of X-API-Key or Authorization: Bearer.

    Raises:
        HTTPException: 401 where there is none that could be valid.
    """
    key = request.headers.get("x-api-key", "")
    if not key:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        key = given.strip() if scheme.lower() == "bearer" else ""
    if not key:
        raise unauthorized("an API key is needed: X-API-Key or Authorization: Bearer")
    if not is_well_formed(key):
        raise unauthorized("this API key is not valid")
    return key


def unauthorized(why: str) -> HTTPException:
    """Make the refusal of a key."""
    return HTTPException(HTTPStatus.UNAUTHORIZED, why, {"WWW-Authenticate": "Bearer"})


async def body_of(request: Request) -> bytes:
    """Read the body.

    Raises:
        HTTPException: 413 beyond BODY_BYTES, without reading further.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > BODY_BYTES:
        raise _too_large()
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > BODY_BYTES:
                raise _too_large()
            chunks.append(chunk)
    except ClientDisconnect:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the body ended early") from None
    return b"".join(chunks)


def _too_large() -> HTTPException:
    why = f"a request may have {BODY_BYTES // (1024 * 1024)} MiB"
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
