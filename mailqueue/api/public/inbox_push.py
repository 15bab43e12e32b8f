"""`/push/gmail`: Pub/Sub says that inboxes at Gmail have changed; they are scanned at once."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from mailqueue.api.http.responses import error_answer
from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import Conflict, NotFound, Unauthorized, Unavailable
from mailqueue.watch import gmail

MAX_BYTES = 64 * 1024
RETRY_SECONDS = 30


class InboxPush:
    """The endpoint. It only wakes: what has changed is read from Gmail, from the stored cursor."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def respond(self, request: Request) -> Response:
        """Return 204 once the inboxes of the address are due, whether or not there are any."""
        pushes = self._runtime.services.inbox_pushes
        if pushes is None:
            raise NotFound("page", request.url.path[:40])
        body = await _body(request)
        try:
            address = await pushes.address(request.headers.get("authorization", ""), body)
        except Unauthorized:
            # The reason is not named, because it could help a forger.
            return error_answer(
                request.scope,
                HTTPStatus.UNAUTHORIZED,
                "unauthorized",
                "the request could not be verified",
                headers={"WWW-Authenticate": "Bearer"},
            )
        except Unavailable as exc:
            return error_answer(
                request.scope,
                HTTPStatus.SERVICE_UNAVAILABLE,
                "unavailable",
                exc.public_message,
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        if address is not None:
            async with self._runtime.borrow() as conn:
                await gmail.wake(conn, address)
        return Response(status_code=HTTPStatus.NO_CONTENT)


async def _body(request: Request) -> bytes:
    chunks, size = list[bytes](), 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MAX_BYTES:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            chunks.append(chunk)
    except ClientDisconnect as exc:
        raise Conflict("the client closed the connection before the body was complete") from exc
    return b"".join(chunks)
