"""Parse the forms of Mailgun's clients: urlencoded or multipart."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from mailqueue.api.compat.drain import drained_body
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.requests.large_bodies import LARGE_BYTES, in_turn
from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import unstorable

BODY_BYTES = 26 * 1024 * 1024
"""Largest body in bytes: a message of 25 MB and the form around it."""
SMALL_BYTES = 32 * 1024
"""Bytes of a multipart form above which it is parsed in a thread; this many take up to 30 ms."""
MAX_FILES = 100
MAX_FIELDS = 5_000
MAX_OPTION_BYTES = 16 * 1024
MAX_TYPE_BYTES = 1_000
"""Longest Content-Type in bytes; only its boundary is used."""
_TYPES = (b"multipart/form-data", b"application/x-www-form-urlencoded")
_OPTIONS = ("o:", "h:", "v:", "t:")
_PIECE_BYTES = 64 * 1024
"""Bytes of a field that are unescaped at a stretch; these take up to 10 ms."""


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file of a form; its type is empty where the form has none."""

    field: str
    filename: str
    content_type: str
    octets: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """Fields and files in the order they came; a name may be repeated."""

    fields: tuple[tuple[str, str], ...]
    files: tuple[FormFile, ...]
    size: int
    """Bytes of the form."""

    def all(self, name: str) -> list[str]:
        """Return the values of a field that are not empty."""
        return [text for given, text in self.fields if given == name and text.strip()]

    def one(self, name: str) -> str | None:
        """Return the value of a field.

        Raises:
            InvalidField: it has several values.
        """
        found = self.all(name)
        if len(found) > 1:
            raise InvalidField(name, "may be given once")
        return found[0] if found else None

    def with_prefix(self, prefix: str) -> dict[str, list[str]]:
        """Return the fields whose names have a prefix, by the rest of the name."""
        found: dict[str, list[str]] = {}
        for name, text in self.fields:
            if name.startswith(prefix):
                found.setdefault(name.removeprefix(prefix), []).append(text)
        return found

    def check_names(self, known: Iterable[str]) -> None:
        """Raise InvalidField for a name that is neither in `known` nor an option.

        Raises:
            InvalidField: for the first such name.
        """
        names = frozenset(known)
        for name in (*(name for name, _ in self.fields), *(one.field for one in self.files)):
            if name not in names and not name.startswith(_OPTIONS):
                raise InvalidField(name[:100], "is not supported or not known")


async def form_of(call: RequestContext) -> Form:
    """Parse the form of a request, which then has the form's size.

    Raises:
        HTTPException, InvalidField: as of `parse_form`.
    """
    form = await parse_form(call.request)
    call.size = form.size
    return form


async def parse_form(request: Request) -> Form:
    """Parse a form.

    Raises:
        HTTPException: it is not a form, too large, or received too slowly.
        InvalidField: a field has characters that cannot be stored, or options are too large.
    """
    given = headers_by_name(request).get(b"content-type", b"")
    if len(given) > MAX_TYPE_BYTES:
        why = f"the Content-Type has more than {MAX_TYPE_BYTES} bytes"
        raise HTTPException(HTTPStatus.BAD_REQUEST, why)
    kind = given.lower()
    body = await drained_body(request, max_bytes=BODY_BYTES)
    if body and not kind.startswith(_TYPES):
        why = "the body must be multipart/form-data or application/x-www-form-urlencoded"
        raise HTTPException(HTTPStatus.BAD_REQUEST, why)
    if kind.startswith(_TYPES[0]) and not _is_closed(body, given.decode("latin-1")):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the form ends before its last boundary")
    if kind.startswith(_TYPES[1]):
        is_heavy = len(body) > LARGE_BYTES
        return await in_turn(request, lambda: _urlencoded(body), is_large=is_heavy)
    if len(body) <= SMALL_BYTES:
        return await _multipart(request, body)
    # A loop of its own: the parser works byte by byte where a line ends.
    apart = Request({"type": "http", "headers": request.scope["headers"]})
    return await in_turn(request, lambda: asyncio.run(_multipart(apart, body)), is_large=True)


def _urlencoded(body: bytes) -> Form:
    """Return the form in a body, as https://url.spec.whatwg.org/#urlencoded-parsing says. Pure.

    Separators are counted before the fields are parsed: a body may hold millions of them.
    """
    if body.count(b"&") >= MAX_FIELDS:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"the form has more than {MAX_FIELDS} fields")
    pairs = (one.partition(b"=") for one in body.split(b"&") if one)
    form = Form(tuple((_decoded(name), _decoded(text)) for name, _, text in pairs), (), len(body))
    _check(form)
    return form


def _decoded(octets: bytes) -> str:
    octets = octets.replace(b"+", b" ")
    if b"%" in octets:
        octets = b"".join(map(unquote_to_bytes, _pieces(octets)))
    return octets.decode("utf-8", "replace")


def _pieces(octets: bytes) -> Iterator[bytes]:
    """Yield octets in pieces that end before an escape, so that other threads go on in between."""
    begin = 0
    while begin < len(octets):
        end = begin + _PIECE_BYTES
        cut = octets.find(b"%", end - 2, end)
        end = end if cut < 0 else cut
        yield octets[begin:end]
        begin = end


async def _multipart(request: Request, body: bytes) -> Form:
    request._body = body  # where starlette's form parser finds it
    fields: list[tuple[str, str]] = []
    files: list[FormFile] = []
    async with request.form(
        max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=BODY_BYTES
    ) as form:
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                kept = FormFile(
                    name, value.filename or "", value.content_type or "", await value.read()
                )
                files.append(kept)
            else:
                fields.append((name, value))
    found = Form(tuple(fields), tuple(files), len(body))
    _check(found)
    return found


def _is_closed(body: bytes, content_type: str) -> bool:
    # The parser silently drops a part that is cut off.
    head = Message()
    head["content-type"] = content_type
    boundary = str(head.get_boundary("")).encode("latin-1", "replace")
    return not body or b"\r\n--%b--" % boundary in b"\r\n" + body


def _check(form: Form) -> None:
    options = 0
    for name, text in form.fields:
        fault = unstorable(name.replace("\0", "?")[:100], [name, text])
        if fault is not None:
            raise fault
        if name.startswith(_OPTIONS):
            options += len(name) + len(text.encode())
    if options > MAX_OPTION_BYTES:
        raise InvalidField("o:", f"with h:, v: and t: may have {MAX_OPTION_BYTES} bytes together")
