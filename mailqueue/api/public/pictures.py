"""`/t/p/{token}`: pictures of templates, as mail programs of recipients fetch them."""

import re
from functools import partial
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.tracking import refused
from mailqueue.templates.pictures.model import PictureBytes
from mailqueue.templates.pictures.serving import PictureCache

CACHE_SECONDS = 86_400
"""How long browsers and proxies may keep a picture, also after it was deleted."""
_TOKEN = re.compile(r"[0-9a-f]{32}")
_HEADERS = {
    "Cache-Control": f"public, max-age={CACHE_SECONDS}",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",  # web mail shows it in pages of its own
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}


class Pictures:
    """The endpoint, with the cache of its process."""

    def __init__(self, runtime: Runtime) -> None:
        self._cache = PictureCache(partial(runtime.transaction, None, by="tracking"))

    async def respond(self, request: Request) -> Response:
        """Return the picture, that it has not changed, or the page that says there is none."""
        token = request.path_params["token"]
        found = await self._cache.get(UUID(token)) if _TOKEN.fullmatch(token) else None
        if found is None:
            status, headers, body = refused(request.scope, "missing")
            response = Response(body if request.method == "GET" else b"", status)
            response.raw_headers = headers
            return response
        return _picture(request, found)


def _picture(request: Request, picture: PictureBytes) -> Response:
    headers = {**_HEADERS, "ETag": f'"{picture.sha256}"'}
    if _has(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    headers["Content-Length"] = str(len(picture.octets))
    body = picture.octets if request.method == "GET" else b""
    return Response(body, headers=headers, media_type=picture.media_type)


def _has(request: Request, tag: str) -> bool:
    """Return whether the client has this picture (RFC 9110, 13.1.2)."""
    given = request.headers.get("if-none-match", "")
    tags = [one.strip().removeprefix("W/") for one in given.split(",")]
    return tag in tags or tags == ["*"]
