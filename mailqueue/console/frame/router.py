"""Finds the page, its session and project, checks rights and forms, and answers errors as pages."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send

from mailqueue.admin.users import seeing, sessions
from mailqueue.admin.users.model import Right
from mailqueue.console.frame import cookies
from mailqueue.console.frame.context import Console, PageContext
from mailqueue.console.frame.errors import error_page
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.core.errors import Forbidden, MailqueueError, NotFound
from mailqueue.telemetry.log import get_logger
from mailqueue.web import tokens
from mailqueue.web.forms import (
    MAX_BYTES,
    SAFE_METHODS,
    FormBounds,
    is_same_origin,
    open_form,
    read_form,
)

LOGIN = "/console/login"
CONFIRM = "/console/confirm"
SECOND_FACTOR = "/console/account/second-factor"
HOME = "/console"
_MAX_NEXT = 2_000
log = get_logger(__name__)


class LoggedOut(Exception):
    """There is no valid session; `kept` names the fields of the form to return to the page."""

    def __init__(self, kept: Sequence[str]) -> None:
        self.kept = kept
        super().__init__("there is no valid session")


class Unconfirmed(Exception):
    """The act needs a recent proof of the user; `kept` names the fields to return to the page."""

    def __init__(self, kept: Sequence[str]) -> None:
        self.kept = kept
        super().__init__("a recent confirmation is needed")


class NoSecondFactor(Exception):
    """The user must turn on a second factor before the page is shown."""


MAX_OTHERS = 20
"""Other projects to which the menu leads; the list of projects has all."""


@dataclass(slots=True)
class Router:
    """The pages as one ASGI application."""

    console: Console
    pages: Sequence[ConsolePage]
    now: Callable[[], float] = time.time
    _routes: list["_Route"] = field(init=False)

    def __post_init__(self) -> None:
        by_path: dict[str, dict[str, ConsolePage]] = {}
        for page in self.pages:
            methods = by_path.setdefault(page.path, {})
            if page.method in methods:
                raise ValueError(f"{page.method} {page.path} stands twice in the table of pages")
            methods[page.method] = page
        # `new` comes before the id of a thing, wherever both stand in the table.
        paths = sorted(by_path, key=lambda path: [part[:1] == "{" for part in path.split("/")])
        self._routes = [_Route(path, by_path[path]) for path in paths]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with a page, or with an error as a page."""
        request = Request(scope, receive, send)
        context = PageContext(self.console, request)
        try:
            response = await self._answered(context)
        except LoggedOut as exc:
            response = _to_login(context, self._asking(context), exc.kept)
        except Unconfirmed as exc:
            response = _through(context, CONFIRM, self._asking(context), exc.kept)
        except NoSecondFactor:
            response = _elsewhere(context, SECOND_FACTOR)
        except (MailqueueError, HTTPException) as exc:
            response = error_page(context, exc)
        except Exception:
            log.exception("console.failed", request_id=scope.get("mailqueue.request_id"))
            response = error_page(context, None)
        await response(scope, receive, send)

    async def _answered(self, context: PageContext) -> Response:
        request = context.request
        page = self._found(request)
        if page.method not in SAFE_METHODS and not is_same_origin(
            request.headers, self.console.settings.console.url
        ):
            raise HTTPException(HTTPStatus.FORBIDDEN, "this form was sent by another site")
        await self._identify(context)
        is_public = page.access is Access.PUBLIC
        if page.max_upload:
            await self._authorize(context, page)  # before anything is uploaded
            async with open_form(request, FormBounds(max_file=page.max_upload)) as read:
                context.form, context.upload = read
                return await self._shown(context, page)
        if page.method not in SAFE_METHODS and (context.session or page.keeps or is_public):
            most = page.max_fields_bytes if context.session else MAX_BYTES
            context.form = await read_form(request, FormBounds(max_fields_bytes=most))
        return await self._shown(context, page)

    async def _shown(self, context: PageContext, page: ConsolePage) -> Response:
        if page.access is not Access.PUBLIC:
            if not page.max_upload:
                await self._authorize(context, page)
            self._check_form(context, page)
            context.pause = await self.console.banner.current(self.console.lend)
        return await page.handler(context)

    def _found(self, request: Request) -> ConsolePage:
        method = "GET" if request.method == "HEAD" else request.method
        for route in self._routes:
            variables = route.match(request.scope["path"])
            if variables is None:
                continue
            request.scope["path_params"] = variables
            if (page := route.methods.get(method)) is not None:
                return page
            allowed = {"Allow": ", ".join(sorted(route.methods))}
            raise HTTPException(
                HTTPStatus.METHOD_NOT_ALLOWED, "this page takes no such request", allowed
            )
        raise HTTPException(HTTPStatus.NOT_FOUND, "there is no such page")

    async def _identify(self, context: PageContext) -> None:
        token = cookies.session_of(context.request)
        if token is None:
            return
        by_hand = _is_by_hand(context.request)
        async with self.console.lend() as conn:
            context.session = await sessions.find(conn, token, is_use=by_hand)
        context.token = token if context.session is not None else None

    async def _authorize(self, context: PageContext, page: ConsolePage) -> None:
        """Check session, second factor, project and right, in this order."""
        if context.session is None:
            raise LoggedOut(page.keeps)
        if context.lacks_second_factor and not page.before_second_factor:
            raise NoSecondFactor
        name = context.request.path_params.get("project")
        if name is not None:
            if "\0" in name:
                raise NotFound("project", name.replace("\0", "?")[:100])
            async with self.console.lend() as conn:
                user = context.session.user_id
                context.project = await seeing.project(conn, user, name)
                if page.method == "GET" and _is_by_hand(context.request):
                    listed = await seeing.list_projects(conn, user, limit=MAX_OTHERS + 1)
                    context.others = [each for each in listed if each.name != name]
        if isinstance(page.access, Right) and page.access not in context.session.rights:
            raise Forbidden(f"the right to {page.access}")
        if page.needs_all and not context.session.sees_all:
            raise Forbidden("the right to see every project")

    def _check_form(self, context: PageContext, page: ConsolePage) -> None:
        """Check the token of a form, and a recent proof of the user where the page needs it."""
        if context.session is None or context.token is None:
            raise LoggedOut(page.keeps)
        if page.method not in SAFE_METHODS:
            given, path = context.form.get("token", ""), context.request.url.path
            if not tokens.is_valid(given, context.token, path, now=self.now()):
                raise HTTPException(
                    HTTPStatus.FORBIDDEN,
                    "this form is too old, or was made for another session; nothing was done",
                )
        if page.step_up and not context.session.is_confirmed:
            raise Unconfirmed(page.keeps)

    def _asking(self, context: PageContext) -> str:
        """Return the path of the page that has the form of this request."""
        path: str = context.request.url.path
        while path != HOME:
            for route in self._routes:
                if route.match(path) is not None and "GET" in route.methods:
                    return path
            path = path.rpartition("/")[0]
        return HOME


def _is_by_hand(request: Request) -> bool:
    """Return whether a person asks; else a page that was left open does."""
    headers = request.headers
    return "hx-request" not in headers and headers.get("accept") != "text/event-stream"


class _Route:
    """The methods of one path."""

    def __init__(self, path: str, methods: dict[str, ConsolePage]) -> None:
        self.methods = methods
        self._pattern, _, self._convertors = compile_path(path)

    def match(self, path: str) -> dict[str, str] | None:
        """Return the variables of a path; None if it is another's."""
        found = self._pattern.match(path)
        return found.groupdict() if found else None


def _to_login(context: PageContext, path: str, kept: Sequence[str]) -> Response:
    response = _through(context, LOGIN, path, kept)
    if cookies.session_of(context.request) is not None:
        cookies.end(context.request, response)
    return response


def _elsewhere(context: PageContext, to: str) -> Response:
    """Go to another page; of a part of a page, the whole page goes there."""
    if "hx-request" in context.request.headers:
        return Response(status_code=HTTPStatus.OK, headers={"HX-Redirect": to})
    return RedirectResponse(to, HTTPStatus.SEE_OTHER)


def _through(context: PageContext, to: str, path: str, kept: Sequence[str]) -> Response:
    """Go to a page that leads back to a path; what was typed stays, except secrets."""
    request = context.request
    if "hx-request" in request.headers:
        return _elsewhere(context, to)
    query = request.url.query
    if context.form:
        query = urlencode({name: context.form[name] for name in kept if name in context.form})
    back = f"{path}?{query}" if query else path
    if len(back) > _MAX_NEXT:
        back = path
    asked = "" if path == HOME or len(back) > _MAX_NEXT else f"?{urlencode({'next': back})}"
    return RedirectResponse(to + asked, HTTPStatus.SEE_OTHER)
