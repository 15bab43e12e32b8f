"""Reading of forms and of texts in queries, bounded in size."""

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

MAX_BYTES = 64 * 1024
MAX_FIELDS = 100
MAX_CHARACTERS = 2_000
"""Characters of a text in a query."""
_FORM = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; the first of a name counts.

    Raises:
        HTTPException: 415 for another type, 413 beyond MAX_BYTES, 400 if it cannot be read.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
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


def text_of(query: Mapping[str, str], name: str) -> str:
    """Return a text of a query or form without spaces around it, or an empty text."""
    return query.get(name, "").replace("\0", "\ufffd").strip()[:MAX_CHARACTERS]
