"""Finds the page, its project and session, checks forms, and answers errors as pages."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send

from mailqueue.core.errors import MailqueueError
from mailqueue.core.secret import Secret
from mailqueue.portal.frame import cookies
from mailqueue.portal.frame.context import Portal, PortalContext
from mailqueue.portal.frame.errors import error_page
from mailqueue.portal.frame.page import PortalPage
from mailqueue.projects.actor import act_for
from mailqueue.telemetry.log import get_logger
from mailqueue.watch.logins import links, sessions
from mailqueue.watch.logins.links import PATH
from mailqueue.web import tokens
from mailqueue.web.forms import SAFE_METHODS, is_same_origin, read_form

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
"""Names of projects; what has another form is no path of ours."""
_MAX_NEXT = 2_000
log = get_logger(__name__)


class NoSession(Exception):
    """There is no valid session in this project."""


@dataclass(slots=True)
class PortalRouter:
    """The pages as one ASGI application."""

    portal: Portal
    pages: Sequence[PortalPage]
    now: Callable[[], float] = time.time
    _routes: list[tuple[re.Pattern[str], dict[str, PortalPage]]] = field(init=False)

    def __post_init__(self) -> None:
        by_path: dict[str, dict[str, PortalPage]] = {}
        for page in self.pages:
            methods = by_path.setdefault(page.path, {})
            if page.method in methods:
                raise ValueError(f"{page.method} {page.path} stands twice in the table of pages")
            methods[page.method] = page
        # `new` comes before the id of a thing, wherever both stand in the table.
        paths = sorted(by_path, key=lambda path: [part[:1] == "{" for part in path.split("/")])
        self._routes = [
            (compile_path(f"{PATH}/{{project}}{path}")[0], by_path[path]) for path in paths
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with a page, or with an error as a page."""
        request = Request(scope, receive, send)
        context = PortalContext(self.portal, request)
        try:
            response = await self._answered(context)
        except NoSession:
            response = _to_login(context)
        except (MailqueueError, HTTPException) as exc:
            response = error_page(context, exc)
        except Exception:
            log.exception("portal.failed", request_id=scope.get("mailqueue.request_id"))
            response = error_page(context, None)
        await response(scope, receive, send)

    async def _answered(self, context: PortalContext) -> Response:
        request = context.request
        page = self._found(context)
        is_safe = page.method in SAFE_METHODS
        if not is_safe and not self._is_ours(request):
            raise HTTPException(HTTPStatus.FORBIDDEN, "this form was sent by another site")
        await self._identify(context)
        if context.session is None and not page.is_public:
            raise NoSession
        new_key: Secret | None = None
        if context.session is None:
            context.form_key = cookies.form_of(request, context.name)
            if context.form_key is None and is_safe:
                context.form_key = new_key = cookies.new_form()
        if not is_safe:
            context.form = await read_form(request)
            self._check_form(context)
        response = await page.handler(context)
        if new_key is not None:
            cookies.keep_form(request, response, context.name, new_key)
        return response

    def _found(self, context: PortalContext) -> PortalPage:
        request = context.request
        method = "GET" if request.method == "HEAD" else request.method
        for pattern, methods in self._routes:
            found = pattern.match(request.scope["path"])
            if found is None or _NAME.fullmatch(found["project"]) is None:
                continue
            context.name = found["project"]
            request.scope["path_params"] = found.groupdict()
            if (page := methods.get(method)) is not None:
                return page
            allowed = {"Allow": ", ".join(sorted(methods))}
            raise HTTPException(
                HTTPStatus.METHOD_NOT_ALLOWED, "this page takes no such request", allowed
            )
        raise HTTPException(HTTPStatus.NOT_FOUND, "there is no such page")

    def _is_ours(self, request: Request) -> bool:
        """Return whether a form was sent by a page of the public URL, or of the host asked."""
        url = self.portal.origin
        return is_same_origin(request.headers) or (
            url is not None and is_same_origin(request.headers, url)
        )

    async def _identify(self, context: PortalContext) -> None:
        token = cookies.session_of(context.request, context.name)
        async with self.portal.lend() as conn, conn.transaction():
            context.found = await links.find_project(conn, context.name)
            if context.found is None or token is None:
                return
            await act_for(conn, context.found.id, by="inbox pages")
            context.session = await sessions.find(conn, context.found.id, token)
        context.form_key = token if context.session is not None else None

    def _check_form(self, context: PortalContext) -> None:
        """Check that a form was made for this session, or this browser."""
        given, path, key = context.form.get("token", ""), context.request.url.path, context.form_key
        if key is None or not tokens.is_valid(given, key, path, now=self.now()):
            raise HTTPException(
                HTTPStatus.FORBIDDEN,
                "this form is too old, or was made for another session; nothing was done: open the "
                "page again, in a browser that takes cookies",
            )


def _to_login(context: PortalContext) -> Response:
    request = context.request
    after = ""
    if request.method in SAFE_METHODS and request.url.path != context.home:
        query = request.url.query
        after = f"{request.url.path}?{query}" if query else request.url.path
    response = context.redirect(
        context.path("login", next=after if len(after) <= _MAX_NEXT else "")
    )
    if cookies.session_of(request, context.name) is not None:
        cookies.end(request, response, context.name)
    return response
