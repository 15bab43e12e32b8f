"""Security headers of every response, and the check that a form comes from our own pages."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MAIL_POLICY = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; "
    "font-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
"""For an email's HTML in its frame: its own styles and images, links in a new window, no more."""
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_HSTS = "max-age=31536000"
SAFE_METHODS = ("GET", "HEAD")


class ConsoleGuard:
    """Middleware that adds the security headers.

    `url` is the configured URL of the console: behind a proxy with https, requests are encrypted.
    """

    def __init__(self, pages: ASGIApp, url: str | None) -> None:
        self._pages = pages
        self._is_encrypted = url is not None and url.startswith("https:")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; every response gets the headers."""
        if self._is_encrypted:
            scope = {**scope, "scheme": "https"}

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope.get("scheme") == "https":
                    headers.setdefault("Strict-Transport-Security", _HSTS)
            await send(message)

        await self._pages(scope, receive, guarded)


def is_same_origin(headers: Headers, url: str | None) -> bool:
    """Return whether a browser says that a form was sent by a page of ours.

    `url` is the configured URL of the console. Browsers send at least one of both headers with a
    POST; a request with neither is refused.
    """
    site = headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    origin = headers.get("origin")
    if origin is None:
        return site == "same-origin"
    found = urlsplit(origin)
    if url is not None:
        wanted = urlsplit(url)
        return (found.scheme, found.netloc) == (wanted.scheme, wanted.netloc)
    return bool(found.netloc) and found.netloc == headers.get("host", "")
