"""Postmark's API: sending."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat import store as compat_store
from mailqueue.api.compat.accepting import (
    Wanted,
    accept_all,
    accept_in_transaction,
    prepare_email,
    prepare_emails,
)
from mailqueue.api.compat.idempotency import respond_once
from mailqueue.api.compat.model import CompatApi, sending_endpoint
from mailqueue.api.compat.postmark.bounces import BOUNCE_ENDPOINTS
from mailqueue.api.compat.postmark.bulk import BULK_ENDPOINTS
from mailqueue.api.compat.postmark.domains import DOMAIN_ENDPOINTS
from mailqueue.api.compat.postmark.faults import (
    UNPROCESSABLE,
    ErrorCode,
    MissingToken,
    error_of,
    field_description,
    inactive,
    partly_inactive,
    refused,
)
from mailqueue.api.compat.postmark.messages import MESSAGE_ENDPOINTS
from mailqueue.api.compat.postmark.model import PostmarkMessage, TemplatedMessage
from mailqueue.api.compat.postmark.reading import (
    AnyMessage,
    check_headers,
    listed,
    message_of,
    messages_of,
    sent_at,
)
from mailqueue.api.compat.postmark.received.messages import INBOUND_ENDPOINTS
from mailqueue.api.compat.postmark.ruled.applying import rules_for
from mailqueue.api.compat.postmark.ruled.senders import SENDER_ENDPOINTS
from mailqueue.api.compat.postmark.ruled.triggers import TRIGGER_ENDPOINTS
from mailqueue.api.compat.postmark.search import SEARCH_ENDPOINTS
from mailqueue.api.compat.postmark.server import SERVER_ENDPOINTS
from mailqueue.api.compat.postmark.statistics import STATISTICS_ENDPOINTS
from mailqueue.api.compat.postmark.streams import STREAM_ENDPOINTS
from mailqueue.api.compat.postmark.suppressions import SUPPRESSION_ENDPOINTS
from mailqueue.api.compat.postmark.templates import TEMPLATE_ENDPOINTS
from mailqueue.api.compat.postmark.trial import TEST_TOKEN, validate
from mailqueue.api.compat.postmark.webhooks import WEBHOOK_ENDPOINTS
from mailqueue.api.compat.reading import document_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.responses import json_answer
from mailqueue.api.sending.service import accepted
from mailqueue.contract.sending import Sent
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.acceptance import AcceptResult

TOKEN = b"x-postmark-server-token"
ACCOUNT_TOKEN = b"x-postmark-account-token"
"""Header of requests about domains; both have a key of the project, whose scopes decide."""
MESSAGE_BYTES = 10 * 1024 * 1024
BATCH_BYTES = 50 * 1024 * 1024


def sending_one(model: type[AnyMessage]) -> Callable[[RequestContext], Awaitable[Response]]:
    """Return the handler that accepts one message."""

    async def send(call: RequestContext) -> Response:
        check_headers(call.request)
        document = await document_of(call, max_bytes=MESSAGE_BYTES)
        given = await call.in_turn(lambda: message_of(model, document, call.values))
        message = (await rules_for(call, [given]))(given)
        ready = await prepare_email(call, await call.in_turn(message.to_mail))

        async def answer() -> Response:
            return await _response(call, message, await accept_in_transaction(call, ready))

        if call.idempotency_key is None:
            return await _response(call, message, await accepted(call, ready))
        return await respond_once(call, call.idempotency_key, document, answering=answer)

    return send


def sending_many(model: type[AnyMessage]) -> Callable[[RequestContext], Awaitable[Response]]:
    """Return the handler that accepts a batch, each message by itself."""

    async def send(call: RequestContext) -> Response:
        check_headers(call.request)
        document = await document_of(call, max_bytes=BATCH_BYTES)
        documents = listed(model, document)
        given = await call.in_turn(lambda: messages_of(model, documents, call.values))
        complete = await rules_for(call, [one for one in given if isinstance(one, model)])
        messages = [complete(one) if isinstance(one, model) else one for one in given]
        wanted = await call.in_turn(lambda: [_wanted(one) for one in messages])
        ready = await prepare_emails(call, wanted)

        async def answer() -> Response:
            judged = await accept_all(call, ready, is_strict=False)
            gone = await _suppressed(call, messages, judged)
            return json_answer([outcome(m, j, gone) for m, j in zip(messages, judged, strict=True)])

        if call.idempotency_key is None:
            return await answer()
        return await respond_once(call, call.idempotency_key, document, answering=answer)

    return send


def _wanted(message: AnyMessage | InvalidField) -> Wanted | InvalidField:
    if isinstance(message, InvalidField):
        return message
    try:
        return message.to_mail()
    except InvalidField as exc:
        return exc


async def _response(call: RequestContext, message: AnyMessage, sent: Sent) -> Response:
    document = outcome(message, sent, await _suppressed(call, [message], [sent]))
    return json_answer(document, status=UNPROCESSABLE if document["ErrorCode"] else 200)


async def _suppressed(
    call: RequestContext,
    messages: Sequence[AnyMessage | InvalidField],
    judged: Sequence[AcceptResult],
) -> dict[Any, list[str]]:
    """Return the suppressed addresses of each mail with several recipients."""
    ids = [
        one.id
        for message, one in zip(messages, judged, strict=True)
        if isinstance(one, Sent) and not isinstance(message, InvalidField) and message.is_to_several
    ]
    if not ids:
        return {}
    async with call.connection() as conn:
        project_id = call.caller.project_id
        found = await compat_store.list_recipients(conn, ids, project_id=project_id)
    gone: dict[Any, list[str]] = {}
    for one in found:
        if one.status == "suppressed":
            gone.setdefault(one.email_id, []).append(one.address)
    return gone


def outcome(
    message: AnyMessage | InvalidField, judged: AcceptResult, gone: dict[Any, list[str]]
) -> dict[str, Any]:
    """Return the result of one message. Pure."""
    if isinstance(message, InvalidField) or isinstance(judged, InvalidField):
        fault = judged if isinstance(judged, InvalidField) else message
        assert isinstance(fault, InvalidField), "a refused message has no email"
        return error_of(*field_description(fault))
    addresses = gone.get(judged.id, [])
    if judged.status == "suppressed":
        return error_of(ErrorCode.INACTIVE_RECIPIENT, inactive(addresses or message.addresses))
    return {
        "To": message.to,
        "SubmittedAt": sent_at(),
        "MessageID": judged.id,
        **error_of(ErrorCode.OK, partly_inactive(addresses) if addresses else "OK"),
    }


def token_of(request: Request) -> str:
    """Return the API key in `X-Postmark-Server-Token` or `X-Postmark-Account-Token`.

    Raises:
        Unauthorized: there is none.
    """
    head = headers_by_name(request)
    for name in (TOKEN, ACCOUNT_TOKEN):
        if given := head.get(name, b"").decode("latin-1").strip():
            return given
    raise MissingToken("an API key is needed: X-Postmark-Server-Token")


def is_postmarks(request: Request) -> bool:
    """Return whether a request is one of Postmark's clients: it has a header for their tokens."""
    return not headers_by_name(request).keys().isdisjoint((TOKEN, ACCOUNT_TOKEN))


async def validate_without_key(request: Request) -> Response | None:
    """Return the response to a request with the test token, which validates messages only."""
    if headers_by_name(request).get(TOKEN, b"").strip().upper() != TEST_TOKEN:
        return None
    return await validate(request)


POSTMARK = CompatApi(
    name="postmark",
    endpoints=(
        sending_endpoint("/email", "Send a message.", sending_one(PostmarkMessage)),
        sending_endpoint("/email/batch", "Send up to 500 messages.", sending_many(PostmarkMessage)),
        sending_endpoint(
            "/email/withTemplate", "Send a message from a template.", sending_one(TemplatedMessage)
        ),
        sending_endpoint(
            "/email/batchWithTemplates",
            "Send up to 500 messages from templates.",
            sending_many(TemplatedMessage),
        ),
        *BULK_ENDPOINTS,
        *MESSAGE_ENDPOINTS,
        *SERVER_ENDPOINTS,
        *STREAM_ENDPOINTS,
        *SUPPRESSION_ENDPOINTS,
        *BOUNCE_ENDPOINTS,
        *SEARCH_ENDPOINTS,
        *WEBHOOK_ENDPOINTS,
        *TEMPLATE_ENDPOINTS,
        *STATISTICS_ENDPOINTS,
        *DOMAIN_ENDPOINTS,
        *SENDER_ENDPOINTS,
        *INBOUND_ENDPOINTS,
        *TRIGGER_ENDPOINTS,
    ),
    credential_of=token_of,
    refused=refused,
    roots=("/email",),
    is_known_by_head=is_postmarks,
    without_key=validate_without_key,
)
