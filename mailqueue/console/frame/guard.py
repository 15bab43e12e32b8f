"""Gives every response of the console its security headers, behind a proxy with HTTPS too."""

from starlette.types import ASGIApp, Receive, Scope, Send

from mailqueue.web.security_headers import SecurityHeaders


class ConsoleGuard:
    """Middleware that adds the security headers.

    `url` is the configured URL of the console: behind a proxy with https, requests are encrypted.
    """

    def __init__(self, pages: ASGIApp, url: str | None) -> None:
        self._pages = SecurityHeaders(pages)
        self._is_encrypted = url is not None and url.startswith("https:")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; every response gets the headers."""
        if self._is_encrypted:
            scope = {**scope, "scheme": "https"}
        await self._pages(scope, receive, send)
