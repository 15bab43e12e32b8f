"""The trap's REST API for tests: list, search, wait, read, download and delete caught mail."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mailqueue.core.errors import NotFound
from mailqueue.core.json.writing import write_json
from mailqueue.db.pool import Pool, borrow
from mailqueue.mime.parse import ShownMessage, parse_message
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap import inbox
from mailqueue.trap.model import TrapMessage, TrapSummary
from mailqueue.web.security_headers import DOWNLOAD_HEADERS

PATH = "/trap/api"
MAX_LISTED = 200
MAX_SEARCH = 200
MAX_WAIT_SECONDS = 30
POLL_SECONDS = 0.2
"""Time between two looks for a message that is waited for."""
MAX_WAITING = 50
"""Requests that wait at the same time; each looks into the table five times a second."""
_DIGITS = 18


@dataclass(slots=True)
class TrapRest:
    """The endpoints, and how many requests wait."""

    pool: Pool
    database: DatabaseSettings
    waiting: int = 0

    async def list(self, request: Request) -> Response:
        """Return messages, newest first; `next` is the `before` of the next page."""
        wanted = _query(request, "q", "limit", "before", "after")
        limit = wanted.number("limit", otherwise=50, least=1, most=MAX_LISTED)
        search = wanted.search()
        async with borrow(self.pool, self.database) as conn:
            found = await inbox.page(
                conn,
                limit=limit + 1,
                search=search,
                before=wanted.id("before"),
                after=wanted.id("after"),
            )
            total = await inbox.count(conn, search=search)
        page = found[:limit]
        following = page[-1].id if len(found) > limit else None
        return _json(
            {"total": total, "messages": [_summary(each) for each in page], "next": following}
        )

    async def wait(self, request: Request) -> Response:
        """Return the oldest message after `after` that matches, which may be still to come."""
        wanted = _query(request, "q", "after", "timeout")
        search, after = wanted.search(), wanted.id("after")
        seconds = wanted.number("timeout", otherwise=10, least=0, most=MAX_WAIT_SECONDS)
        if self.waiting >= MAX_WAITING:
            why = f"{MAX_WAITING} requests wait already"
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, why)
        self.waiting += 1
        try:
            end = monotonic() + seconds
            while (found := await self._oldest(search, after)) is None:
                if (left := end - monotonic()) <= 0:
                    break
                await asyncio.sleep(min(left, POLL_SECONDS))
        finally:
            self.waiting -= 1
        if found is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, f"no such message within {seconds} s")
        return await self._shown(found)

    async def show(self, request: Request) -> Response:
        """Return one message with its text, HTML, headers and the names of its files."""
        return await self._shown(id_in_path(request))

    async def source(self, request: Request) -> Response:
        """Return the bytes of one message."""
        message = await self._get(id_in_path(request))
        return Response(message.raw, media_type="message/rfc822", headers=DOWNLOAD_HEADERS)

    async def remove(self, request: Request) -> Response:
        """Delete one message."""
        async with borrow(self.pool, self.database) as conn:
            try:
                await inbox.remove(conn, id_in_path(request))
            except NotFound as exc:
                raise HTTPException(HTTPStatus.NOT_FOUND, str(exc)) from exc
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def clear(self, request: Request) -> Response:
        """Delete all messages; a query is refused, so that none is taken for a filter."""
        _query(request)
        async with borrow(self.pool, self.database) as conn:
            return _json({"deleted": await inbox.clear(conn)})

    async def _oldest(self, search: str, after: int | None) -> int | None:
        async with borrow(self.pool, self.database) as conn:
            return await inbox.find_oldest(conn, search=search, after=after)

    async def _shown(self, message_id: int) -> Response:
        message = await self._get(message_id)
        return _json(_summary(message) | _content(parse_message(message.raw)))

    async def _get(self, message_id: int) -> TrapMessage:
        try:
            async with borrow(self.pool, self.database) as conn:
                return await inbox.get(conn, message_id)
        except NotFound as exc:
            raise HTTPException(HTTPStatus.NOT_FOUND, str(exc)) from exc


def rest_routes(pool: Pool, database: DatabaseSettings) -> list[Route]:
    """Return the routes of the API."""
    rest = TrapRest(pool, database)
    one = f"{PATH}/messages/{{id}}"
    return [
        Route(f"{PATH}/messages", rest.list, methods=["GET"]),
        Route(f"{PATH}/messages", rest.clear, methods=["DELETE"]),
        Route(f"{PATH}/messages/wait", rest.wait, methods=["GET"]),
        Route(one, rest.show, methods=["GET"]),
        Route(one, rest.remove, methods=["DELETE"]),
        Route(f"{one}/source", rest.source, methods=["GET"]),
    ]


def id_in_path(request: Request) -> int:
    """Return the id of a message in a path.

    Raises:
        HTTPException: no message has it, because it is no number or has too many digits.
    """
    text: str = request.path_params["id"]
    if not _is_number(text):
        raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no message {text[:100]}")
    return int(text)


def rest_fault(status: int, why: str) -> Response:
    """Return an error of the API. Pure."""
    return _json({"error": why}, status)


@dataclass(frozen=True, slots=True)
class _Query:
    parameters: dict[str, str]

    def search(self) -> str:
        text = self.parameters.get("q", "").strip()
        if len(text) > MAX_SEARCH:
            raise _refused("q", f"may have at most {MAX_SEARCH} characters")
        return text

    def id(self, name: str) -> int | None:
        return self._whole(name) if name in self.parameters else None

    def number(self, name: str, *, otherwise: int, least: int, most: int) -> int:
        found = self._whole(name) if name in self.parameters else otherwise
        if not least <= found <= most:
            raise _refused(name, f"must be {least} to {most}")
        return found

    def _whole(self, name: str) -> int:
        text = self.parameters[name]
        if not _is_number(text):
            raise _refused(name, "must be a whole number")
        return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _query(request: Request, *names: str) -> _Query:
    parameters: dict[str, str] = {}
    for name, text in request.query_params.multi_items():
        if name not in names:
            raise _refused(name[:100], "is not known")
        if name in parameters:
            raise _refused(name, "may be given once")
        parameters[name] = text
    return _Query(parameters)


def _refused(name: str, why: str) -> HTTPException:
    return HTTPException(HTTPStatus.BAD_REQUEST, f"{name}: {why}")


def _summary(one: TrapSummary) -> dict[str, Any]:
    return {
        "id": one.id,
        "received_at": one.received_at,
        "mail_from": one.mail_from,
        "rcpt_to": one.rcpt_to,
        "subject": one.subject,
        "from": one.from_header,
        "to": one.to_header,
        "preview": one.preview,
        "size_bytes": one.size_bytes,
    }


def _content(content: ShownMessage) -> dict[str, Any]:
    return {
        "headers": [{"name": name, "value": value} for name, value in content.headers],
        "text": content.text,
        "html": content.html,
        "attachments": [
            {
                "filename": one.filename,
                "content_type": one.content_type,
                "size_bytes": one.size_bytes,
            }
            for one in content.attachments
        ],
        "is_complete": content.is_complete,
    }


def _json(document: Any, status: int = HTTPStatus.OK) -> Response:
    return Response(write_json(document), status, media_type="application/json")
