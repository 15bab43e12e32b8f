"""Checks requests to the trap's pages, and sets the security headers of responses.

Messages are untrusted, and so are other pages open in the browser: a page must not read the trap
through a host name that resolves to it (DNS rebinding), nor clear it by submitting a form.
"""

import base64
import binascii
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mailqueue.core.secret import Secret
from mailqueue.trap.access import is_password

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A message in its frame may show its own styles and images, and open links in a new window.
MAIL_POLICY = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; "
    "font-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE_METHODS = ("GET", "HEAD")


class Guard:
    """Middleware of the trap's pages."""

    def __init__(self, pages: ASGIApp, password: Secret | None) -> None:
        self._pages = pages
        self._password = password

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request or pass it on; every response gets the security headers."""
        refusal = self._refusal(Headers(scope=scope), scope["method"])
        await (refusal or self._pages)(scope, receive, _tame(send))

    def _refusal(self, headers: Headers, method: str) -> Response | None:
        if self._password is not None:
            if not is_password(_basic_password(headers), self._password):
                return PlainTextResponse(
                    "the trap's password is required; any user name is accepted\n",
                    status_code=401,
                    headers={"WWW-Authenticate": 'Basic realm="mail trap", charset="UTF-8"'},
                )
        elif not _is_own_name(headers.get("host", "")):
            return PlainTextResponse(
                "without a password the trap is shown under localhost or an IP address only\n",
                status_code=421,
            )
        if method not in _SAFE_METHODS and not _is_same_origin(headers):
            return PlainTextResponse("this request came from another site\n", status_code=403)
        return None


def _tame(send: Send) -> Send:
    async def tamed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return tamed


def _basic_password(headers: Headers) -> str:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(given, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


def _is_own_name(host: str) -> bool:
    """Return whether the host is localhost or an IP address, which DNS rebinding cannot use."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ip_address(name))
    except ValueError:
        return False


def _is_same_origin(headers: Headers) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    # Browsers send at least one of both with a POST; curl sends none.
    return origin is None or urlsplit(origin).netloc == headers.get("host", "")
