"""The webhook URLs of providers: requests are verified, stored unchanged, and processed later."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.api.http.responses import error_answer, json_answer
from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import Conflict, Locked, NotFound, Unavailable
from mailqueue.inbound.intake import intake_of
from mailqueue.inbound.receiving import InboundAnswer, Receiver
from mailqueue.ports.inbound import InboundRequest
from mailqueue.vault.masterkey import master_key_of

RETRY_SECONDS = 30
MAX_TOKEN_CHARACTERS = 200


def inbound_routes(runtime: Runtime) -> list[BaseRoute]:
    """Return the routes of the providers' webhooks."""
    receiver = Receiver(
        runtime.services.inbound,
        runtime.borrow,
        intake_of(runtime.pool, runtime.settings.database),
        lambda: master_key_of(runtime.settings),
    )
    webhook = _ProviderWebhook(receiver)
    return [Route("/inbound/{provider}/{token}", webhook.respond, methods=["POST"])]


class _ProviderWebhook:
    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    async def respond(self, request: Request) -> Response:
        """Return 200 once the request is durable, 503 when the provider should send it again."""
        provider = self._receiver.providers.get(request.path_params["provider"])
        token = request.path_params["token"]
        if provider is None or len(token) > MAX_TOKEN_CHARACTERS:
            raise NotFound("webhook", request.path_params["provider"][:40])
        headers = dict[str, str]()
        for name, text in request.scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), text.decode("latin-1"))
        try:
            received = InboundRequest(
                request.method,
                headers,
                dict(request.query_params),
                await body_of(request, provider.max_bytes),
            )
            answer = await self._receiver.receive(provider, token, received)
        except (Unavailable, Locked) as exc:
            return error_answer(
                request.scope,
                HTTPStatus.SERVICE_UNAVAILABLE,
                "unavailable",
                exc.public_message
                if isinstance(exc, Unavailable)
                else "not available now; send it again",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        if answer is InboundAnswer.KEPT:
            return json_answer({"status": "kept"})
        if answer is InboundAnswer.UNKNOWN:
            raise NotFound("webhook", provider.name)
        # The reason is not named, because it could help a forger.
        return error_answer(
            request.scope,
            HTTPStatus.UNAUTHORIZED,
            "unauthorized",
            "the request could not be verified",
            headers={"WWW-Authenticate": 'Basic realm="mailqueue"'}
            if answer is InboundAnswer.ASKED
            else None,
        )


async def body_of(request: Request, max_bytes: int) -> bytes:
    """Return the body; raise 413 once it has more than `max_bytes` bytes."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    chunks, size = list[bytes](), 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > max_bytes:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            chunks.append(chunk)
    except ClientDisconnect as exc:
        raise Conflict("the client closed the connection before the body was complete") from exc
    return b"".join(chunks)
