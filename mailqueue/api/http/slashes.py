"""Redirects between paths with and without a trailing slash."""

from http import HTTPStatus

from starlette.responses import RedirectResponse
from starlette.routing import Match, Router
from starlette.types import Receive, Scope, Send


class Slashes:
    """Handles paths without a route; a redirect contains only the path, never a host."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (path := self._other(scope)) is not None:
            query = scope["query_string"].decode("latin-1")
            where = f"{path}?{query}" if query else path
            response = RedirectResponse(where, HTTPStatus.TEMPORARY_REDIRECT)
            await response(scope, receive, send)
            return
        await self._router.not_found(scope, receive, send)

    def _other(self, scope: Scope) -> str | None:
        path: str = scope["path"]
        if path == "/" or path.startswith("//"):  # with two slashes a host would follow
            return None
        other = path.rstrip("/") if path.endswith("/") else f"{path}/"
        asked = {**scope, "path": other}
        is_there = any(route.matches(asked)[0] is not Match.NONE for route in self._router.routes)
        return other if is_there else None
