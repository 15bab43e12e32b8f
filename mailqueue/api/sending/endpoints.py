"""The endpoint that sends an email."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.responses import json_answer
from mailqueue.api.sending.batches import BATCH_ENDPOINTS, LIST
from mailqueue.api.sending.dry_run import run_dry
from mailqueue.api.sending.keys import with_key
from mailqueue.api.sending.override import sent_by_override
from mailqueue.api.sending.prepare import routed, store_files
from mailqueue.api.sending.schema import SendRequest
from mailqueue.api.sending.service import accepted_or_expanding
from mailqueue.api.sending.templates import TEMPLATE_ENDPOINTS
from mailqueue.contract.sending import Sent
from mailqueue.projects.model import Scope


async def send(call: RequestContext) -> Sent | Response:
    """Accept one email, send it at once, or report its result without sending."""
    wanted = with_key(call.body, call.idempotency_key)
    if wanted.is_plain:  # nearly every email
        return await accepted_or_expanding(call, wanted)
    wanted = await routed(call, wanted)
    if wanted.dry_run:
        return json_answer(await run_dry(call, wanted))
    wanted = await store_files(call, wanted)
    if wanted.smtp_override is not None:
        return await sent_by_override(call, wanted, wanted.smtp_override, None)
    return await accepted_or_expanding(call, wanted)


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/send",
        Scope.EMAIL_SEND,
        "Send an email.",
        send,
        request=SendRequest,
        response=Sent,
        status=HTTPStatus.ACCEPTED,
        tag="Sending",
        once=Once.ITSELF,
        description=(
            "202: the email is committed to the queue. With `dry_run` the response is 200 with "
            f"the result it would have, with `smtp_override` 200 with its result. {LIST}"
        ),
        example={
            "to": ["ann@example.com"],
            "subject": "Your order 81",
            "text_body": "It is on its way.",
        },
        test_keys=ForTestKeys.OWN,
    ),
    *TEMPLATE_ENDPOINTS,
    *BATCH_ENDPOINTS,
)
