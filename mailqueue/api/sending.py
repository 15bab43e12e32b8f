"""The endpoints that send mail."""

from http import HTTPStatus

from mailqueue.api.call import Call
from mailqueue.api.endpoint import Endpoint, Once
from mailqueue.api.model import SendRequest, Sent
from mailqueue.core.errors import InvalidField
from mailqueue.tenants.model import Scope


async def send(call: Call) -> Sent:
    """Accept one mail."""
    wanted = _with_key(call.body, call.idempotency_key)
    return await call.runtime.intake.send(call.caller, wanted, size=call.size)


def _with_key(wanted: SendRequest, idempotency_key: str | None) -> SendRequest:
    if idempotency_key is None:
        return wanted
    if wanted.idempotency_key not in (None, idempotency_key):
        raise InvalidField("idempotency_key", "the header Idempotency-Key says another")
    return wanted.model_copy(update={"idempotency_key": idempotency_key})


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
        example={
            "to": ["ann@example.com"],
            "subject": "Your order 81",
            "text_body": "It is on its way.",
        },
    ),
)
