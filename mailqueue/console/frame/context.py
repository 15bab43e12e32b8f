"""The context of a page: the session, the project in the path, and connections for both."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from uuid import UUID

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mailqueue.admin.infrastructure import Storage
from mailqueue.admin.users import seeing
from mailqueue.admin.users.mailing import LinkMailer
from mailqueue.admin.users.model import Right, SeenProject, Session
from mailqueue.admin.users.passkeys.passkeys import Passkeys
from mailqueue.admin.users.second_factor.factors import SecondFactors
from mailqueue.admin.users.sessions import Logins
from mailqueue.console.frame.banner import PauseBanner
from mailqueue.console.frame.navigation import NavigationLink, Section, links
from mailqueue.console.frame.rendering import project_path, render
from mailqueue.console.live.reader import LiveReader
from mailqueue.contract.operations import Pause
from mailqueue.core.errors import Forbidden, NotFound, Unauthorized
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.db.replica import Replica
from mailqueue.mail.message.preview import MessageSources
from mailqueue.operations.activity import Activity
from mailqueue.ports.identity import LoginProvider
from mailqueue.projects.actor import act_for
from mailqueue.rendering.process.host import CompileProcess
from mailqueue.senders.trial import OpenTransport, no_account
from mailqueue.settings.environment import Settings
from mailqueue.web import tokens
from mailqueue.web.beside import CONSOLE, PageLinks, pages_beside
from mailqueue.web.forms import text_of, uuid_of
from mailqueue.webhooks.trial import MakePoster, no_poster


@dataclass(frozen=True, slots=True)
class Console:
    """The objects shared by all pages."""

    settings: Settings
    pool: Pool
    sources: MessageSources
    logins: Logins
    live: LiveReader
    activity: Activity
    second_factors: SecondFactors
    sections: Sequence[Section] = ()
    issuer: LoginProvider | None = None  # None: users log in with a password only
    open_transport: OpenTransport = no_account
    banner: PauseBanner = field(default_factory=PauseBanner)
    compile_process: CompileProcess = field(default_factory=CompileProcess)
    storage: Storage = field(default_factory=Storage)
    make_poster: MakePoster = no_poster
    replica: Replica | None = None  # answers reports
    link_mailer: LinkMailer | None = None  # None: links are shown, and never mailed
    passkeys: Passkeys | None = None  # None: browsers make none for the URL of the console

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Conn]:
        """Yield a connection in autocommit mode, with the rights of the login role."""
        async with borrow(self.pool, self.settings.database) as conn:
            yield conn

    def lend_for_reports(self) -> AbstractAsyncContextManager[Conn]:
        """Return a context as `lend` is, of the replica if one answers."""
        return self.lend() if self.replica is None else self.replica.lend(self.lend)


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
    upload: UploadFile | None = None  # the file of a form, until the page is answered
    pause: Pause | None = None  # of all sending
    others: Sequence[SeenProject] = ()  # projects to which the menu leads

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

    @property
    def lacks_second_factor(self) -> bool:
        """Return whether the user must turn on a second factor before anything else."""
        session = self.session
        is_without = (
            session is not None and session.issuer is None and not session.has_second_factor
        )
        return is_without and self.console.settings.console.requires_second_factor

    def may(self, right: Right) -> bool:
        """Return whether the user has a right."""
        return self.session is not None and right in self.session.rights

    def sections(self) -> list[NavigationLink]:
        """Return the navigation of this page."""
        if self.session is None or self.lacks_second_factor:
            return []
        project = self.project.name if self.project else None
        here = self.request.url.path
        return links(self.console.sections, self.session, project, here)

    def section_above(self) -> NavigationLink | None:
        """Return the section below which this page stands; None if it is the section's own page."""
        current = next((link for link in self.sections() if link.is_current), None)
        is_own = current is None or current.path == self.request.url.path
        return None if is_own else current

    def beside(self) -> PageLinks:
        """Return titles and paths of pages that the same listener serves beside the console."""
        return pages_beside(self.request.scope, CONSOLE)

    def in_other_project(self, name: str) -> str:
        """Return the path of the section of this page in another project."""
        here = next((link for link in self.sections() if link.is_current), None)
        section = next(
            (
                each.path
                for each in self.console.sections
                if here is not None
                and each.of_project
                and here.path == project_path(self.seen.name, each.path)
            ),
            "overview",
        )
        return project_path(name, section)

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
        """Yield a connection in a transaction for the project, with the rights of the API.

        Row-level security shows rows of this project only, whatever the user's role.
        """
        async with self.connection_for(self.seen) as conn:
            yield conn

    @asynccontextmanager
    async def reports(self) -> AsyncIterator[Conn]:
        """Yield a connection as `connection` does, of the replica if one answers."""
        async with self.console.lend_for_reports() as conn, conn.transaction():
            if not await act_for(conn, self.seen.id, by=self.user.by, is_read_only=True):
                raise Unauthorized("the session is not valid")
            yield conn

    @asynccontextmanager
    async def connection_for(self, project: SeenProject) -> AsyncIterator[Conn]:
        """Yield a connection as `connection` does, for another project that the user sees."""
        async with self.console.lend() as conn, conn.transaction():
            if not await act_for(conn, project.id, by=self.user.by):
                raise Unauthorized("the session is not valid")
            yield conn

    @asynccontextmanager
    async def installation(self) -> AsyncIterator[Conn]:
        """Yield a connection in a transaction for all projects, with the rights of the API.

        Raises:
            Forbidden: the user does not administer the installation.
        """
        if not (self.may(Right.ADMINISTER) and self.user.sees_all):
            raise Forbidden(f"the right to {Right.ADMINISTER}")
        async with self.console.lend() as conn, conn.transaction():
            await act_for(conn, None, by=self.user.by)
            yield conn

    @asynccontextmanager
    async def acting_once(self, *, on_installation: bool = False) -> AsyncIterator[Conn]:
        """Yield a connection as `connection` or `installation` does, for the form's action.

        The token of the form is used up in the same transaction. Forms with the same path take
        effect one after another.

        Raises:
            DoneBefore: the form was sent before.
        """
        lent = self.installation() if on_installation else self.connection()
        token, path = tokens.hash_of(self.form.get("token", "")), self.request.url.path
        async with lent as conn:
            if not await seeing.take_action(conn, token, form=path):
                raise DoneBefore
            yield conn

    @asynccontextmanager
    async def administering_once(self) -> AsyncIterator[Conn]:
        """Yield a connection in a transaction of the installation, for the form's action.

        The token of the form is used up in the same transaction.

        Raises:
            DoneBefore: the form was sent before.
        """
        async with self.console.lend() as conn, conn.transaction():
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
