"""The cookies of the console: the session, a login in progress at an issuer, between password and
code or with a passkey, and a token that stays in the browser after a login.
"""

from starlette.requests import Request
from starlette.responses import Response

from mailqueue.admin.users.beginning import LASTS
from mailqueue.admin.users.model import BegunSession
from mailqueue.admin.users.passkeys.ceremony import LASTS_SECONDS
from mailqueue.admin.users.second_factor import unfinished
from mailqueue.core.secret import Secret

BROWSER_SECONDS = 180 * 24 * 3600
"""How long a browser keeps the token by which its logins are counted apart from others."""
FLOW_SECONDS = 600
"""Seconds that a login at an issuer may take."""
_MAX_CHARACTERS = 100
_MAX_FLOW_CHARACTERS = 3_500


def session_of(request: Request) -> Secret | None:
    """Return the token of the session."""
    return _read(request, "session")


def browser_of(request: Request) -> Secret | None:
    """Return the token that an earlier login left in the browser."""
    return _read(request, "browser")


def flow_of(request: Request) -> Secret | None:
    """Return the secrets of the login at an issuer that this browser has begun."""
    return _read(request, "login", most=_MAX_FLOW_CHARACTERS)


def keep_flow(request: Request, response: Response, flow: Secret) -> None:
    """Keep the secrets of a login at an issuer until the browser returns from there."""
    _set(request, response, "login", flow, FLOW_SECONDS)


def end_flow(request: Request, response: Response) -> None:
    """Remove the secrets of a login at an issuer."""
    _set(request, response, "login", Secret(""), 0)


def unfinished_of(request: Request) -> Secret | None:
    """Return the login of this browser that waits for a code."""
    return _read(request, "code", most=unfinished.MAX_CHARACTERS)


def keep_unfinished(request: Request, response: Response, kept: Secret) -> None:
    """Keep a login whose password was right until its code is given."""
    _set(request, response, "code", kept, unfinished.LASTS_SECONDS)


def end_unfinished(request: Request, response: Response) -> None:
    """Remove the login that waits for a code."""
    _set(request, response, "code", Secret(""), 0)


def passkey_of(request: Request) -> Secret | None:
    """Return the token of the login of this browser that waits for a passkey."""
    return _read(request, "passkey")


def keep_passkey(request: Request, response: Response, kept: Secret) -> None:
    """Keep the token of a login until its passkey has answered."""
    _set(request, response, "passkey", kept, LASTS_SECONDS)


def end_passkey(request: Request, response: Response) -> None:
    """Remove the login that waits for a passkey."""
    _set(request, response, "passkey", Secret(""), 0)


def is_encrypted(request: Request) -> bool:
    """Return whether the browser reaches us by HTTPS."""
    return request.url.scheme == "https"


def begin(request: Request, response: Response, begun: BegunSession) -> None:
    """Set both cookies."""
    _set(request, response, "session", begun.token, int(LASTS.total_seconds()))
    _set(request, response, "browser", begun.browser, BROWSER_SECONDS)


def end(request: Request, response: Response) -> None:
    """Remove the cookie of the session."""
    _set(request, response, "session", Secret(""), 0)


def _name(request: Request, kind: str) -> str:
    # With this prefix a browser refuses the cookie from other hosts and without encryption.
    prefix = "__Host-" if is_encrypted(request) else ""
    return f"{prefix}mailqueue_{kind}"


def _read(request: Request, kind: str, *, most: int = _MAX_CHARACTERS) -> Secret | None:
    given = request.cookies.get(_name(request, kind), "")
    return Secret(given) if given and given.isascii() and len(given) <= most else None


def _set(request: Request, response: Response, kind: str, token: Secret, seconds: int) -> None:
    response.set_cookie(
        _name(request, kind),
        token.reveal(),
        max_age=seconds,
        path="/",
        secure=is_encrypted(request),
        httponly=True,
        samesite="lax",
    )
