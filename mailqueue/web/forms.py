"""Reads forms, files in them and texts of queries, bounded in size and time."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

MAX_BYTES = 64 * 1024
MAX_FIELDS = 100
MAX_CHARACTERS = 2_000
"""Characters of a text in a query."""
FORM_SECONDS = 60.0
"""Time within which a form is received."""
UPLOAD_SECONDS = 600.0
"""Time within which a form with a file is received."""
SAFE_METHODS = ("GET", "HEAD")
_FORM = "application/x-www-form-urlencoded"
_FORM_OF_PARTS = "multipart/form-data"
_CHARSETS = ("", "utf-8", "utf8", "us-ascii", "iso-8859-1")
"""Charsets that a form may name. Others decode to what PostgreSQL cannot store, such as half a pair
of surrogates.
"""


@dataclass(frozen=True, slots=True)
class FormBounds:
    """What a page takes as its form."""

    max_fields: int = MAX_FIELDS
    max_file: int = 0
    """Bytes of a file that the form may have; 0: it has none."""
    max_fields_bytes: int = MAX_BYTES
    """Bytes of the fields, as they are sent."""
    needs_type: bool = True
    """Whether a body without Content-Type is refused; else it is read as the usual form."""


async def read_form(request: Request, bounds: FormBounds | None = None) -> dict[str, str]:
    """Return the fields of a form without a file; the first of a name counts.

    Raises:
        HTTPException: as `open_form` does.
    """
    async with open_form(request, bounds or FormBounds()) as (fields, _):
        return fields


@asynccontextmanager
async def open_form(
    request: Request, bounds: FormBounds
) -> AsyncIterator[tuple[dict[str, str], UploadFile | None]]:
    """Yield the fields of a form and its file, which is deleted after the block.

    The first of a name counts. There is no file where none was chosen, or the form cannot have one.

    Raises:
        HTTPException: 415 for another type or charset or a compressed body, 413 beyond the bytes of
            the fields and of the file, 408 when it is sent too slowly, 400 if it cannot be read.
    """
    given = request.headers.get("content-type", "" if bounds.needs_type else _FORM)
    kind = given.partition(";")[0].strip().lower()
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the form must not be compressed")
    if kind not in (_FORM, _FORM_OF_PARTS):
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "this is not a form")
    charset = parse_options_header(given)[1].get(b"charset", b"").decode("latin-1")
    if charset.strip().lower() not in _CHARSETS:
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the form must be in UTF-8")
    try:
        async with asyncio.timeout(UPLOAD_SECONDS if bounds.max_file else FORM_SECONDS):
            if kind == _FORM:
                body = b"".join([chunk async for chunk in _bounded(request, bounds, 0)])
                parts = list[tuple[str, str | UploadFile]](
                    parse_qsl(
                        body.decode("utf-8"),
                        keep_blank_values=True,
                        encoding="utf-8",
                        errors="strict",
                        max_num_fields=bounds.max_fields,
                    )
                )
            else:
                parts = await _parsed_parts(request, bounds)
    except TimeoutError:
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, "the form was sent too slowly") from None
    except (MultiPartException, ClientDisconnect, ValueError, KeyError):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the form cannot be read") from None
    fields: dict[str, str] = {}
    file: UploadFile | None = None
    for name, value in parts:
        if isinstance(value, UploadFile):
            file = value if value.filename else file
        else:
            fields.setdefault(name, value.replace("\0", "\ufffd"))
    try:
        yield fields, file
    finally:
        for _, value in parts:
            if isinstance(value, UploadFile):
                await value.close()


async def _parsed_parts(request: Request, bounds: FormBounds) -> list[tuple[str, str | UploadFile]]:
    parser = MultiPartParser(
        request.headers,
        _bounded(request, bounds, bounds.max_file),
        max_files=1 if bounds.max_file else 0,
        max_fields=bounds.max_fields,
        max_part_size=bounds.max_fields_bytes,
    )
    return (await parser.parse()).multi_items()


async def _bounded(
    request: Request, bounds: FormBounds, max_file: int
) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_file + bounds.max_fields_bytes:
            why = "the form is too large"
            if max_file:
                most = max_file // (1024 * 1024)
                why = f"the file is too large: at most {most} MiB are allowed"
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        yield chunk


def day_of(text: str) -> datetime | None:
    """Return the begin in UTC of a day such as 2030-05-01; None for any other text."""
    try:
        found = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if 1970 <= found.year < 9999 else None


def uuid_of(text: str) -> UUID | None:
    """Return the id of a text; None for any other text."""
    try:
        return UUID(text)
    except ValueError:
        return None


def text_of(query: Mapping[str, str], name: str) -> str:
    """Return a text of a query or form without spaces around it, or an empty text."""
    return query.get(name, "").replace("\0", "\ufffd").strip()[:MAX_CHARACTERS]


def path_below(home: str, given: str) -> str:
    """Return a path with its query if it is `home` or below it, else `home`. Pure.

    No scheme, host, backslash or parent folder may lead a browser elsewhere.
    """
    path = given.partition("?")[0]
    is_ours = path == home or path.startswith(f"{home}/")
    is_plain = given.isprintable() and not any(part in path for part in ("\\", "//", "/."))
    return given if is_ours and is_plain else home


def is_same_origin(headers: Headers, url: str | None = None, *, is_strict: bool = True) -> bool:
    """Return whether a browser says that a form was sent by a page of ours.

    Browsers send at least one of Sec-Fetch-Site and Origin with a POST. Both must name us, `url`
    being the address that people use, else the host of the request. Unless `is_strict`, the first
    of them that is there decides, and a request with neither is taken: a program's, such as curl.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    if origin is None:
        return site is not None or not is_strict
    if site is not None and not is_strict:
        return True
    found = urlsplit(origin)
    if url is not None:
        wanted = urlsplit(url)
        return (found.scheme, found.netloc) == (wanted.scheme, wanted.netloc)
    return bool(found.netloc) and found.netloc == headers.get("host", "")
