"""The pages of persons as routes of an application, and their static files."""

from functools import partial

from starlette.routing import BaseRoute, Route, request_response

from mailqueue.admin.users.attempts import Attempts
from mailqueue.admin.users.passwords import Passwords
from mailqueue.db.pool import Pool, borrow
from mailqueue.portal.frame.context import Portal
from mailqueue.portal.frame.rendering import ASSETS
from mailqueue.portal.frame.router import PortalRouter
from mailqueue.portal.table import MENU, PAGES
from mailqueue.ports.channel import InstalledApp, PhoneSender
from mailqueue.ports.mailbox import InboxConsents
from mailqueue.settings.environment import Settings
from mailqueue.watch.logins.links import PATH
from mailqueue.watch.logins.sessions import PersonLogins
from mailqueue.web.security_headers import SecurityHeaders


def portal_routes(
    settings: Settings,
    pool: Pool,
    *,
    passwords: Passwords | None = None,
    slack_app: InstalledApp | None = None,
    phone_sender: PhoneSender | None = None,
    inbox_consents: InboxConsents | None = None,
) -> list[BaseRoute]:
    """Return the routes of the pages of persons. The caller owns the pool."""
    lend, url = partial(borrow, pool, settings.database), settings.tracking.public_url
    logins = PersonLogins(lend, passwords or Passwords(), Attempts(lend))
    portal = Portal(settings, pool, logins, MENU, slack_app, inbox_consents, phone_sender)
    pages = SecurityHeaders(PortalRouter(portal, PAGES), url)
    return [
        Route("/inbox-static/{name}", SecurityHeaders(request_response(ASSETS.respond), url)),
        Route(PATH + "/{project}", pages),
        Route(PATH + "/{project}/{rest:path}", pages),
    ]
