"""Reading of forms, of files in them and of texts in queries, bounded in size."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

MAX_BYTES = 64 * 1024
MAX_FIELDS = 100
MAX_CHARACTERS = 2_000
"""Characters of a text in a query."""
UPLOAD_SECONDS = 600.0
"""Time within which a form with a file is received."""
_FORM = "application/x-www-form-urlencoded"
_FORM_WITH_FILE = "multipart/form-data"


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; the first of a name counts.

    Raises:
        HTTPException: 415 for another type, 413 beyond MAX_BYTES, 400 if it cannot be read.
    """
    if _type_of(request) != _FORM:
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "this is not a form")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BYTES:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the form is too large")
        pairs = parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except (ValueError, ClientDisconnect):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the form cannot be read") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        found.setdefault(name, value.replace("\0", "\ufffd"))
    return found


@asynccontextmanager
async def read_form_with_file(
    request: Request, *, max_bytes: int
) -> AsyncIterator[tuple[dict[str, str], UploadFile | None]]:
    """Yield the fields of a form and its file, which is deleted after the block.

    The first of a name counts. There is no file where none was chosen, or the form cannot have one.

    Raises:
        HTTPException: 415 for another type, 413 beyond `max_bytes`, 408 when it is sent too slowly,
            400 if it cannot be read.
    """
    if _type_of(request) != _FORM_WITH_FILE:
        yield await read_form(request), None
        return
    parser = MultiPartParser(
        request.headers,
        _bounded(request, max_bytes),
        max_files=1,
        max_fields=MAX_FIELDS,
        max_part_size=MAX_BYTES,
    )
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            form = await parser.parse()
    except TimeoutError:
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, "the form was sent too slowly") from None
    except (MultiPartException, ClientDisconnect, ValueError, KeyError):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the form cannot be read") from None
    try:
        fields: dict[str, str] = {}
        file: UploadFile | None = None
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                file = value if value.filename else file
            else:
                fields.setdefault(name, value.replace("\0", "\ufffd"))
        yield fields, file
    finally:
        await form.close()


def day_of(text: str) -> datetime | None:
    """Return the begin in UTC of a day such as 2030-05-01; None for any other text."""
    try:
        found = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if 1970 <= found.year < 9999 else None


def text_of(query: Mapping[str, str], name: str) -> str:
    """Return a text of a query or form without spaces around it, or an empty text."""
    return query.get(name, "").replace("\0", "\ufffd").strip()[:MAX_CHARACTERS]


def _type_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _bounded(request: Request, max_bytes: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_bytes + MAX_BYTES:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the file is too large: at most {max_bytes // (1024 * 1024)} MiB are allowed",
            )
        yield chunk
