"""The security headers of every page, and what pages add to them.

A page loads nothing but what its policy names, is framed by none, and is stored by no cache.
"""

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY: Mapping[str, str] = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}


def content_policy(adds: Mapping[str, str]) -> str:
    """Return a Content-Security-Policy: nothing is loaded but what `adds` names. Pure."""
    return "; ".join(f"{name} {sources}" for name, sources in {**_POLICY, **adds}.items())


OWN_FILES: Mapping[str, str] = dict.fromkeys(
    ("style-src", "script-src", "img-src", "connect-src", "frame-src"), "'self'"
)
"""For pages with files and frames of their own origin, and no code or style inside the page."""
PAGE_POLICY = content_policy(OWN_FILES)
MAIL_POLICY = "sandbox allow-popups allow-popups-to-escape-sandbox; " + content_policy(
    {
        "img-src": "data:",
        "font-src": "data:",
        "style-src": "'unsafe-inline'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
    }
)
"""For an email's HTML in its frame: its own styles and images, links in a new window, no more."""
DOWNLOAD_HEADERS: Mapping[str, str] = {"Content-Security-Policy": "sandbox"}
"""For a file that is saved: should a browser show it, nothing in it runs."""
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


def security_headers(policy: Mapping[str, str], **adds: str) -> dict[str, str]:
    """Return the headers of a page that loads what `policy` adds.

    `adds` are other headers, or other values of these: `Referrer_Policy="no-referrer"`.
    """
    named = {name.replace("_", "-"): value for name, value in adds.items()}
    return {**_HEADERS, "Content-Security-Policy": content_policy(policy), **named}


def framed(html: str) -> HTMLResponse:
    """Return an email's HTML for its frame, where it can run and fetch nothing.

    Links open in a new window, unless it sets a target itself.
    """
    content = html + '\n<base target="_blank">'
    headers = {"Content-Security-Policy": MAIL_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(content.encode("utf-8", "replace"), headers=headers)


class SecurityHeaders:
    """Middleware that adds the headers to every response that does not set them itself.

    `url` is where people open the pages: behind a proxy with https, requests are encrypted.
    """

    def __init__(self, pages: ASGIApp, url: str | None = None) -> None:
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
