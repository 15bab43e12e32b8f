"""A view of a page as server-sent events, or once as JSON for pages that ask for changes."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from uuid import UUID

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from mailqueue.admin.users.model import Right, SeenProject
from mailqueue.admin.users.recheck import hash_of
from mailqueue.console.frame.context import Console, PageContext
from mailqueue.console.frame.rendering import render
from mailqueue.console.live.reader import Key, LiveParts, LiveReader, Load, PageWatch, Viewer
from mailqueue.core.asgi import CLOSING
from mailqueue.db.fetch import Conn

EVENTS = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
"""Seconds without a change after which a comment is sent, by which a lost client is noticed."""
SEND_SECONDS = 20.0
"""Seconds that a client has to take in an event."""
STREAM_SECONDS = 600.0
"""How long a stream lasts at most; browsers open the next one by themselves."""
_HEADERS = ((b"content-type", EVENTS.encode()), (b"x-accel-buffering", b"no"))

Read = Callable[[Console, Conn, SeenProject | None], Awaitable[Mapping[str, object]]]


@dataclass(frozen=True, slots=True)
class LiveView:
    """The parts of a page that change: one read, and a template by the id of each element.

    What it shows depends on the project, on the object that `of` names, and on `rights` where those
    are given, never on who the user is: pages that show the same share one read.
    """

    name: str
    right: Right
    read: Read
    templates: Mapping[str, str]
    seconds: float = 0
    """Seconds between two reads, where INTERVAL_SECONDS is too short."""
    of: UUID | None = None
    """The object in the project that the page is about."""
    rights: frozenset[Right] | None = None
    """The rights of the users who see these parts, where the parts depend on them."""

    def key(self, project: SeenProject | None) -> Key:
        """Return what tells its results apart in memory."""
        return self.name, None if project is None else project.id, self.of, self.rights

    def rendered(self, project: SeenProject | None, values: Mapping[str, object]) -> LiveParts:
        """Return the HTML of each part."""
        return {
            name: render(template, project=project, **values)
            for name, template in self.templates.items()
        }

    async def load(self, console: Console, project: SeenProject | None, conn: Conn) -> LiveParts:
        """Read, and return the HTML of each part."""
        return self.rendered(project, await self.read(console, conn, project))


async def parts_of(context: PageContext, view: LiveView) -> LiveParts:
    """Return the parts of a view as they are now, for a page that shows them."""
    console, project = context.console, context.project
    load = partial(view.load, console, project)
    return await console.live.current(view.key(project), load, console.lend, view.seconds)


async def read_now(context: PageContext, view: LiveView) -> tuple[Mapping[str, object], LiveParts]:
    """Return what a view shows at this moment, as values and as parts, for a page that is opened.

    Open pages of the same view are shown it too.
    """
    async with context.console.lend() as conn:
        values = await view.read(context.console, conn, context.project)
    parts = view.rendered(context.project, values)
    context.console.live.show(view.key(context.project), parts)
    return values, parts


async def stream(context: PageContext, view: LiveView) -> Response:
    """Return the changes of a view as events, or its parts as JSON if no events are asked for.

    Raises:
        TooManyRequests: too many pages are open.
    """
    if not wants_events(context.request):
        return JSONResponse(dict(await parts_of(context, view)))
    console, project = context.console, context.project
    assert context.token is not None, "a public page has no changes"
    viewer = Viewer(
        hash_of(context.token),
        context.user.user_id,
        view.right,
        None if project is None else project.name,
        view.rights,
    )
    console.live.check_room(viewer)
    load = partial(view.load, console, project)
    return EventStream(console.live, view.key(project), load, viewer, view.seconds)


def wants_events(request: Request) -> bool:
    """Return whether a page asks for a stream."""
    return request.headers.get("accept", "") == EVENTS


class EventStream(Response):
    """The changes of a view until the page is left, the server stops, or the user may not see it.

    Browsers open a stream again that ended without the event `over`.
    """

    def __init__(
        self, live: LiveReader, key: Key, load: Load, viewer: Viewer, seconds: float = 0
    ) -> None:
        super().__init__()
        self._live = live
        self._key = key
        self._load = load
        self._viewer = viewer
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events."""
        watch = self._live.watch(self._key, self._load, self._viewer, self._seconds)
        try:
            status = HTTPStatus.OK
            await send({"type": "http.response.start", "status": status, "headers": list(_HEADERS)})
            writing = asyncio.ensure_future(_write(watch, send))
            waits = [writing, asyncio.ensure_future(_left(receive))]
            if CLOSING in scope:
                waits.append(asyncio.ensure_future(scope[CLOSING].wait()))
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
                await asyncio.gather(*waits, return_exceptions=True)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._live.leave(watch)


async def _write(watch: PageWatch, send: Send) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + STREAM_SECONDS
    # At once, so that the page sees whether events reach it.
    await _send(send, b"retry: 1000\nevent: ready\ndata: {}\n\n")
    while loop.time() < until:
        parts = await watch.changes(HEARTBEAT_SECONDS)
        if watch.is_over:
            await _send(send, b"event: over\ndata: {}\n\n")
            return
        await _send(send, _event(parts) if parts else b": nothing changed\n\n")


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, body: bytes) -> None:
    async with asyncio.timeout(SEND_SECONDS):
        await send({"type": "http.response.body", "body": body, "more_body": True})


def _event(parts: LiveParts) -> bytes:
    return f"event: parts\ndata: {json.dumps(dict(parts))}\n\n".encode()
