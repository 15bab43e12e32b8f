"""The context of a page: the session, the project in the path, and connections for both."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mailqueue.administration.users import seeing
from mailqueue.administration.users.model import Right, SeenProject, Session
from mailqueue.administration.users.sessions import Logins
from mailqueue.console.frame import tokens
from mailqueue.console.frame.forms import text_of
from mailqueue.console.frame.rendering import render
from mailqueue.core.errors import Unauthorized
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.mail.message.preview import MessageSources
from mailqueue.settings.environment import Settings
from mailqueue.tenants.actor import act_for


@dataclass(frozen=True, slots=True)
class Console:
    """The objects shared by all pages."""

    settings: Settings
    pool: Pool
    sources: MessageSources
    logins: Logins

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Conn]:
        """Yield a connection in autocommit mode, with the rights of the login role."""
        async with borrow(self.pool, self.settings.database) as conn:
            yield conn


class DoneBefore(Exception):
    """The form was sent before; nothing was done again."""


@dataclass(slots=True)
class PageContext:
    """One request, after authentication. `form` is empty for a GET."""

    console: Console
    request: Request
    session: Session | None = None
    token: Secret | None = None  # of the session
    project: SeenProject | None = None
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def user(self) -> Session:
        """Return the session of a page that needs one."""
        assert self.session is not None, "a public page has no session"
        return self.session

    @property
    def seen(self) -> SeenProject:
        """Return the project of a page that has one in its path."""
        assert self.project is not None, "this page has no project in its path"
        return self.project

    def may(self, right: Right) -> bool:
        """Return whether the user has a right."""
        return self.session is not None and right in self.session.rights

    def query(self, name: str) -> str:
        """Return a text of the query, or an empty text."""
        return text_of(self.request.query_params, name)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Conn]:
        """Yield a connection in a transaction for the project, with the rights of the API.

        Row-level security shows rows of this project only, whatever the user's role.
        """
        async with self.console.lend() as conn, conn.transaction():
            if not await act_for(conn, self.seen.id, by=self.user.by):
                raise Unauthorized("the session is not valid")
            yield conn

    @asynccontextmanager
    async def acting_once(self) -> AsyncIterator[Conn]:
        """Yield a connection as `connection` does, for the form's action.

        The token of the form is used up in the same transaction.

        Raises:
            DoneBefore: the form was sent before.
        """
        async with self.connection() as conn:
            if not await seeing.take_action(conn, tokens.hash_of(self.form.get("token", ""))):
                raise DoneBefore
            yield conn

    def form_token(self, path: str | None = None) -> str:
        """Return the token of a form that is sent to a path, by default to that of this page."""
        if self.token is None:
            return ""
        return tokens.new_token(self.token, path or self.request.url.path, now=time.time())

    def page(self, template: str, *, status: int = HTTPStatus.OK, **values: object) -> HTMLResponse:
        """Return a rendered page."""
        return HTMLResponse(render(template, page=self, Right=Right, **values), status)

    @staticmethod
    def redirect(path: str) -> Response:
        """Return a redirect that is followed by a GET."""
        return RedirectResponse(path, HTTPStatus.SEE_OTHER)
