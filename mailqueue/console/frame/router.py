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

from mailqueue.administration.users import seeing, sessions
from mailqueue.administration.users.model import Right
from mailqueue.console.frame import cookies, tokens
from mailqueue.console.frame.context import Console, PageContext
from mailqueue.console.frame.errors import error_page
from mailqueue.console.frame.forms import read_form
from mailqueue.console.frame.guard import SAFE_METHODS, is_same_origin
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.core.errors import Forbidden, MailqueueError, NotFound
from mailqueue.telemetry.log import get_logger

LOGIN = "/console/login"
HOME = "/console"
_MAX_NEXT = 2_000
log = get_logger(__name__)


class LoggedOut(Exception):
    """There is no valid session; `kept` names the fields of the form to return to the page."""

    def __init__(self, kept: Sequence[str]) -> None:
        self.kept = kept
        super().__init__("there is no valid session")


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
        self._routes = [_Route(path, methods) for path, methods in by_path.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with a page, or with an error as a page."""
        request = Request(scope, receive, send)
        context = PageContext(self.console, request)
        try:
            response = await self._answered(context)
        except LoggedOut as exc:
            response = _to_login(context, exc.kept)
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
        if page.method not in SAFE_METHODS and (context.session or page.keeps or is_public):
            context.form = await read_form(request)
        if not is_public:
            await self._authorize(context, page)
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
        by_hand = "hx-request" not in context.request.headers  # else a page that was left open
        async with self.console.lend() as conn:
            context.session = await sessions.find(conn, token, is_use=by_hand)
        context.token = token if context.session is not None else None

    async def _authorize(self, context: PageContext, page: ConsolePage) -> None:
        """Check session, project, right, and the token of a form, in this order."""
        if context.session is None or context.token is None:
            raise LoggedOut(page.keeps)
        name = context.request.path_params.get("project")
        if name is not None:
            if "\0" in name:
                raise NotFound("project", name.replace("\0", "?")[:100])
            async with self.console.lend() as conn:
                context.project = await seeing.project(conn, context.session.user_id, name)
        if isinstance(page.access, Right) and page.access not in context.session.rights:
            raise Forbidden(f"the right to {page.access}")
        if page.method not in SAFE_METHODS:
            given, path = context.form.get("token", ""), context.request.url.path
            if not tokens.is_valid(given, context.token, path, now=self.now()):
                raise HTTPException(
                    HTTPStatus.FORBIDDEN,
                    "this form is too old, or was made for another session; nothing was done",
                )


class _Route:
    """The methods of one path."""

    def __init__(self, path: str, methods: dict[str, ConsolePage]) -> None:
        self.methods = methods
        self._pattern, _, self._convertors = compile_path(path)

    def match(self, path: str) -> dict[str, str] | None:
        """Return the variables of a path; None if it is another's."""
        found = self._pattern.match(path)
        return found.groupdict() if found else None


def _to_login(context: PageContext, kept: Sequence[str]) -> Response:
    """Return to the page after the login; what was typed stays, except secrets."""
    request = context.request
    if "hx-request" in request.headers:  # a part of a page: the whole page goes to the login
        return Response(status_code=HTTPStatus.OK, headers={"HX-Redirect": LOGIN})
    path, query = request.url.path, request.url.query
    if context.form:
        query = urlencode({name: context.form[name] for name in kept if name in context.form})
    back = f"{path}?{query}" if query else path
    asked = "" if path == HOME or len(back) > _MAX_NEXT else f"?{urlencode({'next': back})}"
    response = RedirectResponse(LOGIN + asked, HTTPStatus.SEE_OTHER)
    if cookies.session_of(request) is not None:
        cookies.end(request, response)
    return response
