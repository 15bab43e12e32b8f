"""Where providers tell their events: proved, kept as they came, and read later by a worker."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.api.http.responses import error_answer, json_answer
from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import Conflict, Locked, NotFound, Unavailable
from mailqueue.inbound.keeping import keeping_of
from mailqueue.inbound.receiving import Answer, Reception
from mailqueue.ports.inbound import InboundRequest
from mailqueue.vault.masterkey import master_key_of

AGAIN_SECONDS = 30
MOST_TOKEN = 200


def inbound_routes(runtime: Runtime) -> list[BaseRoute]:
    """Return the URLs of providers' webhooks."""
    reception = Reception(
        runtime.services.inbound,
        runtime.borrow,
        keeping_of(runtime.pool, runtime.settings.database),
        lambda: master_key_of(runtime.settings),
    )
    desk = _Desk(reception)
    return [Route("/inbound/{provider}/{token}", desk.answer, methods=["POST"])]


class _Desk:
    def __init__(self, reception: Reception) -> None:
        self._reception = reception

    async def answer(self, request: Request) -> Response:
        """Answer 2xx once it is durable; what a provider should send again, 5xx."""
        provider = self._reception.provider(request.path_params["provider"])
        token = request.path_params["token"]
        if provider is None or len(token) > MOST_TOKEN:
            raise NotFound("webhook", request.path_params["provider"][:40])
        try:
            told = InboundRequest(
                request.method,
                _headers(request),
                dict(request.query_params),
                await _body(request, provider.most_bytes),
            )
            heard = await self._reception.receive(provider, token, told)
        except (Unavailable, Locked) as exc:
            return error_answer(
                request.scope,
                HTTPStatus.SERVICE_UNAVAILABLE,
                "unavailable",
                exc.told if isinstance(exc, Unavailable) else "not now; send it again",
                headers={"Retry-After": str(AGAIN_SECONDS)},
            )
        if heard is Answer.KEPT:
            return json_answer({"status": "kept"})
        if heard is Answer.UNKNOWN:
            raise NotFound("webhook", provider.name)
        # No word of why: whoever forges learns nothing.
        return error_answer(
            request.scope,
            HTTPStatus.UNAUTHORIZED,
            "unauthorized",
            "this is not proved",
            headers={"WWW-Authenticate": 'Basic realm="mailqueue"'}
            if heard is Answer.ASKED
            else None,
        )


def _headers(request: Request) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, text in request.scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), text.decode("latin-1"))
    return headers


async def _body(request: Request, most: int) -> bytes:
    """Read what is told, never more than the provider may tell."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > most:
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    chunks, size = list[bytes](), 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > most:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            chunks.append(chunk)
    except ClientDisconnect as exc:
        raise Conflict("the request broke off") from exc
    return b"".join(chunks)
