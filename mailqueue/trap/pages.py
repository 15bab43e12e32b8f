"""The trap's pages: list, search, one message, its HTML in a frame, download, clear; its API."""

from dataclasses import dataclass
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from mailqueue.core.errors import NotFound, Unavailable
from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.db.pool import Pool, borrow
from mailqueue.mime.parse import parse_message
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap import inbox
from mailqueue.trap.guard import BESIDE, Guard
from mailqueue.trap.model import TrapMessage, TrapSummary
from mailqueue.trap.rendering import ASSETS, render, shown_name
from mailqueue.trap.rest import PATH as REST_PATH
from mailqueue.trap.rest import id_in_path, rest_fault, rest_routes
from mailqueue.trap.views import chosen_view, source_of
from mailqueue.web.rendering import shown_size, shown_time
from mailqueue.web.security_headers import DOWNLOAD_HEADERS, framed

PATHS = ("/trap", "/trap/{rest:path}")
PER_PAGE = 50
SEARCH_CHARACTERS = 200


def trap_pages(pool: Pool, database: DatabaseSettings, *, password: Secret | None) -> ASGIApp:
    """Return the ASGI application of the pages, to be served under PATHS."""
    pages = _Pages(pool, database)
    message = "/trap/messages/{id}"
    routes = [
        Route("/trap", pages.list),
        Route("/trap/messages.json", pages.news),
        Route("/trap/clear", pages.clear, methods=["POST"]),
        Route(message, pages.message),
        Route(message + "/html", pages.html),
        Route(message + "/download", pages.download),
        Route("/trap/static/{name}", ASSETS.respond),
        *rest_routes(pool, database),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _fault, Unavailable: _away})
    return Guard(app, password)


@dataclass(frozen=True, slots=True)
class _Pages:
    pool: Pool
    database: DatabaseSettings

    async def list(self, request: Request) -> Response:
        search, before = _search(request), _number(request, "before")
        async with borrow(self.pool, self.database) as conn:
            found = await inbox.page(conn, limit=PER_PAGE + 1, search=search, before=before)
            total = await inbox.count(conn, search=search)
        shown = found[:PER_PAGE]
        page = render(
            "list.html",
            messages=shown,
            search=search,
            total=total,
            is_newest=before is None,
            newest_id=shown[0].id if shown else 0,
            older=shown[-1].id if len(found) > PER_PAGE else None,
            elsewhere=request.scope[BESIDE],
        )
        return HTMLResponse(page)

    async def news(self, request: Request) -> Response:
        search = _search(request)
        async with borrow(self.pool, self.database) as conn:
            found = await inbox.page(
                conn, limit=PER_PAGE, search=search, after=_number(request, "after")
            )
            total = await inbox.count(conn, search=search)
        answer = {"total": total, "messages": [_row(each) for each in found]}
        return Response(write_json(answer), media_type="application/json")

    async def message(self, request: Request) -> Response:
        message = await self._get(request)
        async with borrow(self.pool, self.database) as conn:
            beside = await inbox.neighbours(conn, message.id)
        content = parse_message(message.raw)
        view = chosen_view(request.query_params.get("view", ""), content)
        page = render(
            "message.html",
            message=message,
            content=content,
            beside=beside,
            view=view,
            source=source_of(message.raw) if view == "source" else "",
            elsewhere=request.scope[BESIDE],
        )
        return HTMLResponse(page)

    async def html(self, request: Request) -> Response:
        message = await self._get(request)
        return framed(parse_message(message.raw).html or "")

    async def download(self, request: Request) -> Response:
        message = await self._get(request)
        headers = {
            "Content-Disposition": f'attachment; filename="message-{message.id}.eml"',
            **DOWNLOAD_HEADERS,
        }
        return Response(message.raw, media_type="message/rfc822", headers=headers)

    async def clear(self, request: Request) -> Response:  # noqa: ARG002
        async with borrow(self.pool, self.database) as conn:
            await inbox.clear(conn)
        return RedirectResponse("/trap", status_code=HTTPStatus.SEE_OTHER)

    async def _get(self, request: Request) -> TrapMessage:
        try:
            async with borrow(self.pool, self.database) as conn:
                return await inbox.get(conn, id_in_path(request))
        except NotFound as exc:
            raise HTTPException(HTTPStatus.NOT_FOUND, str(exc)) from exc


async def _fault(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    if _is_rest(request):
        return rest_fault(exc.status_code, exc.detail)
    what = "This message does not exist. It may have been cleared."
    if exc.status_code != HTTPStatus.NOT_FOUND:
        what = exc.detail
    return HTMLResponse(render("fault.html", what=what), exc.status_code, exc.headers)


async def _away(request: Request, exc: Exception) -> Response:
    if _is_rest(request):
        return rest_fault(HTTPStatus.SERVICE_UNAVAILABLE, str(exc))
    return HTMLResponse(render("fault.html", what=str(exc)), HTTPStatus.SERVICE_UNAVAILABLE)


def _is_rest(request: Request) -> bool:
    return request.url.path.startswith(f"{REST_PATH}/")


def _row(summary: TrapSummary) -> dict[str, object]:
    """Return a message as JSON for the list's script, with the values of the template."""
    return {
        "id": summary.id,
        "received_at": summary.received_at,
        "time": shown_time(summary.received_at),
        "from": shown_name(summary.from_header or summary.mail_from),
        "to": ", ".join(summary.rcpt_to),
        "subject": summary.subject,
        "preview": summary.preview,
        "size": shown_size(summary.size_bytes),
    }


def _search(request: Request) -> str:
    return request.query_params.get("q", "").strip()[:SEARCH_CHARACTERS]


def _number(request: Request, name: str) -> int | None:
    """Return a message id of the query; None if it is missing or not valid."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
