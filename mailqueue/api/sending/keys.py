"""The idempotency key of a request: from the header or the body."""

from typing import TypeVar

from mailqueue.api.sending.schema import SendRequest, TemplateRequest
from mailqueue.core.errors import InvalidField

OneMail = TypeVar("OneMail", SendRequest, TemplateRequest)


def with_key(request: OneMail, idempotency_key: str | None) -> OneMail:
    """Return a request with the key of its header.

    Raises:
        InvalidField: the body has another key.
    """
    if idempotency_key is None:
        return request
    if request.idempotency_key not in (None, idempotency_key):
        raise InvalidField("idempotency_key", "the header Idempotency-Key has another value")
    return request.model_copy(update={"idempotency_key": idempotency_key})
