"""The context of a page: the project in the path, the session, and connections for the project."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote
from uuid import UUID

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mailqueue.admin.users import seeing
from mailqueue.core.errors import NotFound, Unauthorized
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.portal.frame.rendering import render
from mailqueue.ports.channel import InstalledApp, PhoneSender
from mailqueue.ports.mailbox import InboxConsents
from mailqueue.projects.actor import act_for
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import MasterKey, master_key_of
from mailqueue.watch.logins.links import PATH
from mailqueue.watch.logins.model import PersonSession, PersonsProject
from mailqueue.watch.logins.sessions import PersonLogins
from mailqueue.web import tokens
from mailqueue.web.forms import text_of, uuid_of
from mailqueue.web.rendering import path_with


class MenuLink(NamedTuple):
    """A page in the menu."""

    title: str
    path: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Portal:
    """The objects shared by all pages; `menu` has titles and paths below that of the project."""

    settings: Settings
    pool: Pool
    logins: PersonLogins
    menu: Sequence[tuple[str, str]] = ()
    slack_app: InstalledApp | None = None
    inbox_consents: InboxConsents | None = None
    phone_sender: PhoneSender | None = None

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Conn]:
        """Yield a connection in autocommit mode, with the rights of the login role."""
        async with borrow(self.pool, self.settings.database) as conn:
            yield conn

    @property
    def origin(self) -> str | None:
        """Return where persons open their pages; None: it is not set."""
        return self.settings.tracking.public_url

    def master(self) -> MasterKey | None:
        """Return the master key, with which passwords of inboxes are sealed."""
        return master_key_of(self.settings)


class SentBefore(Exception):
    """The form was sent before; nothing was done again."""


@dataclass(slots=True)
class PortalContext:
    """One request, after authentication. `form` is empty for a GET.

    `found` is the project in the path; a page without a session does not show whether there is one.
    """

    portal: Portal
    request: Request
    name: str = ""
    found: PersonsProject | None = None
    session: PersonSession | None = None
    form_key: Secret | None = None  # of forms: the session's token, or a secret of the browser
    form: Mapping[str, str] = field(default_factory=dict)
    afterwards: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    """What an act of PortalAct does once it has committed, such as a request to a provider."""

    @property
    def person(self) -> PersonSession:
        """Return the session of a page that needs one."""
        assert self.session is not None, "a public page has no session"
        return self.session

    @property
    def project(self) -> PersonsProject:
        """Return the project of a page with a session."""
        assert self.found is not None, "a public page has no project"
        return self.found

    @property
    def home(self) -> str:
        """Return the path of the first page of the project."""
        return f"{PATH}/{quote(self.name)}"

    def path(self, *parts: object, **query: object) -> str:
        """Return the path of a page of the project; empty parameters are left out."""
        path = "/".join((self.home, *(quote(str(part), safe="") for part in parts)))
        return path_with(path, **query)

    def menu(self) -> list[MenuLink]:
        """Return the menu; the entry with the longest path that begins this one is current."""
        if self.session is None:
            return []
        here = self.request.url.path
        paths = [(title, f"{self.home}{path}") for title, path in self.portal.menu]
        begun = [path for _, path in paths if here == path or here.startswith(f"{path}/")]
        current = max(begun, key=len, default=None)
        return [MenuLink(title, path, path == current) for title, path in paths]

    def query(self, name: str) -> str:
        """Return a text of the query, or an empty text."""
        return text_of(self.request.query_params, name)

    def id_in_path(self, name: str, kind: str) -> UUID:
        """Return an id in the path; `kind` says of what.

        Raises:
            NotFound: the value is not an id.
        """
        given: str = self.request.path_params[name]
        found = uuid_of(given)
        if found is None:
            raise NotFound(kind, given.replace("\0", "?")[:100])
        return found

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Conn]:
        """Yield a connection in a transaction for the project, with the rights of the API."""
        async with self.portal.lend() as conn, conn.transaction():
            if not await act_for(conn, self.project.id, by=self.person.by):
                raise Unauthorized("the session is not valid")
            yield conn

    @asynccontextmanager
    async def acting_once(self) -> AsyncIterator[Conn]:
        """Yield a connection as `connection` does, for the form's action.

        The token of the form is used up in the same transaction.

        Raises:
            SentBefore: the form was sent before.
        """
        async with self.connection() as conn:
            if not await seeing.take_action(conn, tokens.hash_of(self.form.get("token", ""))):
                raise SentBefore
            yield conn

    def form_token(self, path: str) -> str:
        """Return the token of a form that is sent to a path."""
        if self.form_key is None:
            return ""
        return tokens.new_token(self.form_key, path, now=time.time())

    def page(self, template: str, *, status: int = HTTPStatus.OK, **values: object) -> HTMLResponse:
        """Return a rendered page."""
        return HTMLResponse(render(template, page=self, **values), status)

    def form_page(
        self,
        template: str,
        typed: Mapping[str, str],
        faults: Mapping[str, str] | None = None,
        **values: object,
    ) -> HTMLResponse:
        """Return a rendered page with a form: what was typed, and what is wrong with it (422)."""
        status = HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK
        return self.page(template, status=status, typed=typed, faults=faults or {}, **values)

    @staticmethod
    def redirect(path: str) -> Response:
        """Return a redirect that is followed by a GET."""
        return RedirectResponse(path, HTTPStatus.SEE_OTHER)
