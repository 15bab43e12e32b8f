"""The cookies of a person's browser, each for one project: the session, a token that stays after a
login, and the secret of forms that are sent without a session.
"""

import secrets

from starlette.requests import Request
from starlette.responses import Response

from mailqueue.admin.users.model import BegunSession
from mailqueue.core.secret import Secret
from mailqueue.watch.logins.sessions import LASTS
from mailqueue.watch.states import HOST_PREFIX, SESSION_COOKIE

BROWSER_SECONDS = 180 * 24 * 3600
"""How long a browser keeps the token by which its logins are counted apart from others."""
FORM_SECONDS = 12 * 3600
"""How long a form that needs no session can be sent."""
_MAX_CHARACTERS = 100
_NAMES = {"session": SESSION_COOKIE, "browser": "inbox_browser_", "form": "inbox_form_"}


def session_of(request: Request, project: str) -> Secret | None:
    """Return the token of the session in a project."""
    return _read(request, "session", project)


def browser_of(request: Request, project: str) -> Secret | None:
    """Return the token that an earlier login left in the browser."""
    return _read(request, "browser", project)


def form_of(request: Request, project: str) -> Secret | None:
    """Return the secret of forms that are sent without a session."""
    return _read(request, "form", project)


def new_form() -> Secret:
    """Return a new secret of forms."""
    return Secret(secrets.token_urlsafe(32))


def keep_form(request: Request, response: Response, project: str, secret: Secret) -> None:
    """Keep the secret of forms in the browser."""
    _set(request, response, "form", project, secret, FORM_SECONDS)


def begin(request: Request, response: Response, project: str, begun: BegunSession) -> None:
    """Keep the session, and the token that stays after it."""
    _set(request, response, "session", project, begun.token, int(LASTS.total_seconds()))
    _set(request, response, "browser", project, begun.browser, BROWSER_SECONDS)


def end(request: Request, response: Response, project: str) -> None:
    """Remove the cookie of the session."""
    _set(request, response, "session", project, Secret(""), 0)


def is_encrypted(request: Request) -> bool:
    """Return whether the browser reaches us by HTTPS."""
    return request.url.scheme == "https"


def _name(request: Request, kind: str, project: str) -> str:
    # The prefix needs the path /, so that the name says of which project the cookie is.
    prefix = HOST_PREFIX if is_encrypted(request) else ""
    return f"{prefix}{_NAMES[kind]}{project}"


def _read(request: Request, kind: str, project: str) -> Secret | None:
    given = request.cookies.get(_name(request, kind, project), "")
    return Secret(given) if given and given.isascii() and len(given) <= _MAX_CHARACTERS else None


def _set(
    request: Request, response: Response, kind: str, project: str, token: Secret, seconds: int
) -> None:
    response.set_cookie(
        _name(request, kind, project),
        token.reveal(),
        max_age=seconds,
        path="/",
        secure=is_encrypted(request),
        httponly=True,
        samesite="lax",
    )
