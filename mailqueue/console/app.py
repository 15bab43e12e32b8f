"""The console as routes of an application: its pages, its static files, and the way to them."""

from functools import partial
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route, request_response

from mailqueue.admin.users.mailing import LinkMailer
from mailqueue.admin.users.passkeys.passkeys import make_passkeys
from mailqueue.admin.users.passwords import Passwords
from mailqueue.admin.users.second_factor.factors import SecondFactors
from mailqueue.admin.users.sessions import make_logins
from mailqueue.console.frame.context import Console
from mailqueue.console.frame.rendering import ASSETS
from mailqueue.console.frame.router import HOME, Router
from mailqueue.console.live.reader import LiveReader
from mailqueue.console.table import NAVIGATION, PAGES
from mailqueue.db.pool import Pool, borrow
from mailqueue.db.replica import Replica
from mailqueue.mail.message.preview import MessageSources
from mailqueue.operations.activity import Activity
from mailqueue.ports.identity import LoginProvider
from mailqueue.rendering.process.host import CompileProcess
from mailqueue.senders.trial import OpenTransport, no_account
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import master_key_of
from mailqueue.web.security_headers import SecurityHeaders
from mailqueue.webhooks.trial import MakePoster, no_poster

Pages = list[BaseRoute]
"""The routes of the console."""


def console_routes(
    settings: Settings,
    pool: Pool,
    sources: MessageSources,
    *,
    issuer: LoginProvider | None = None,
    passwords: Passwords | None = None,
    open_transport: OpenTransport = no_account,
    activity: Activity | None = None,
    compile_process: CompileProcess | None = None,
    make_poster: MakePoster = no_poster,
    replica: Replica | None = None,
    link_mailer: LinkMailer | None = None,
) -> Pages:
    """Return the routes of the console; `/` leads there. The caller owns the pool.

    `activity` and `compile_process` are those of the process, where other parts use them, too.
    """
    url, lend = settings.console.url, partial(borrow, pool, settings.database)
    logins = make_logins(lend, passwords or Passwords(), partial(master_key_of, settings))
    named = (urlsplit(url).hostname if url else None) or "mailqueue"
    console = Console(
        settings,
        pool,
        sources,
        logins,
        LiveReader(settings.database),
        activity or Activity(),
        SecondFactors(lend, logins.proofs, named),
        NAVIGATION,
        issuer,
        open_transport,
        compile_process=compile_process or CompileProcess(),
        make_poster=make_poster,
        replica=replica,
        link_mailer=link_mailer,
        passkeys=make_passkeys(lend, logins.attempts, url),
    )
    pages = SecurityHeaders(Router(console, PAGES), url)
    return [
        Route("/", _to_console),
        Route("/console/static/{name}", SecurityHeaders(request_response(ASSETS.respond), url)),
        Route(HOME, pages),
        Route("/console/{rest:path}", pages),
    ]


async def _to_console(request: Request) -> Response:  # noqa: ARG001
    return RedirectResponse(HOME, HTTPStatus.SEE_OTHER)
