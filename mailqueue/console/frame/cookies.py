"""The cookies of the console: the session, and a token that stays in the browser after a login."""

from starlette.requests import Request
from starlette.responses import Response

from mailqueue.administration.users.model import BegunSession
from mailqueue.administration.users.sessions import LASTS
from mailqueue.core.secret import Secret

BROWSER_SECONDS = 180 * 24 * 3600
"""How long a browser keeps the token by which its logins are counted apart from others."""
_MAX_CHARACTERS = 100


def session_of(request: Request) -> Secret | None:
    """Return the token of the session."""
    return _read(request, "session")


def browser_of(request: Request) -> Secret | None:
    """Return the token that an earlier login left in the browser."""
    return _read(request, "browser")


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


def _read(request: Request, kind: str) -> Secret | None:
    given = request.cookies.get(_name(request, kind), "")
    return Secret(given) if given and given.isascii() and len(given) <= _MAX_CHARACTERS else None


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
