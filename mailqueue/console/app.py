"""The console as routes of an application: its pages, its static files, and the way to them."""

from functools import partial
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from mailqueue.administration.users.passwords import Passwords
from mailqueue.administration.users.sessions import Logins
from mailqueue.console.frame.assets import ASSETS
from mailqueue.console.frame.context import Console
from mailqueue.console.frame.guard import ConsoleGuard
from mailqueue.console.frame.router import HOME, Router
from mailqueue.console.table import PAGES
from mailqueue.db.pool import Pool, borrow
from mailqueue.mail.message.preview import MessageSources
from mailqueue.settings.environment import Settings


def console_routes(
    settings: Settings,
    pool: Pool,
    sources: MessageSources,
    *,
    passwords: Passwords | None = None,
) -> list[BaseRoute]:
    """Return the routes of the console; `/` leads there. The caller owns the pool."""
    logins = Logins(partial(borrow, pool, settings.database), passwords or Passwords())
    url = settings.console.url
    pages = ConsoleGuard(Router(Console(settings, pool, sources, logins), PAGES), url)
    return [
        Route("/", _to_console),
        Route("/console/static/{name}", ConsoleGuard(_static, url)),
        Route(HOME, pages),
        Route("/console/{rest:path}", pages),
    ]


async def _to_console(request: Request) -> Response:  # noqa: ARG001
    return RedirectResponse(HOME, HTTPStatus.SEE_OTHER)


async def _static(scope: Scope, receive: Receive, send: Send) -> None:
    asset = ASSETS.get(scope["path_params"]["name"])
    response: Response
    if asset is None:
        response = PlainTextResponse("there is no such file\n", HTTPStatus.NOT_FOUND)
    else:
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        response = Response(asset.content, media_type=asset.media_type, headers=headers)
    await response(scope, receive, send)
