"""Checks requests to the trap's pages, and sets the security headers of responses.

Messages are untrusted, and so are other pages open in the browser: a page must not read the trap
through a host name that resolves to it (DNS rebinding), nor clear it by submitting a form.
"""

import base64
import binascii
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mailqueue.core.secret import Secret
from mailqueue.trap.access import is_password
from mailqueue.web.beside import TRAP, pages_beside
from mailqueue.web.forms import SAFE_METHODS, is_same_origin
from mailqueue.web.security_headers import SecurityHeaders

BESIDE = "mailqueue.beside"
"""Key of a scope: links to the pages that the listener serves besides the trap."""


class Guard:
    """Middleware of the trap's pages."""

    def __init__(self, pages: ASGIApp, password: Secret | None) -> None:
        self._pages = pages
        self._password = password

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request or pass it on; every response gets the security headers."""
        refusal = self._refusal(Headers(scope=scope), scope["method"])
        beside = pages_beside(scope, TRAP)  # of the listener, not of the trap's own application
        await SecurityHeaders(refusal or self._pages)({**scope, BESIDE: beside}, receive, send)

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
        if method not in SAFE_METHODS and not is_same_origin(headers, is_strict=False):
            return PlainTextResponse("this request came from another site\n", status_code=403)
        return None


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
