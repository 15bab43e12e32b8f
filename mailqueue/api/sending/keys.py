"""The idempotency key of a request: from the header or the body."""

from typing import TypeVar

from mailqueue.api.http.idempotency import check_key
from mailqueue.api.sending.schema import SendRequest, TemplateRequest
from mailqueue.core.errors import InvalidField

OneMail = TypeVar("OneMail", SendRequest, TemplateRequest)


def with_key(request: OneMail, idempotency_key: str | None) -> OneMail:
    """Return a request with the key of its header.

    Raises:
        InvalidField: it is not a key, or the body has another.
    """
    if idempotency_key is None:
        return request
    check_key(idempotency_key)
    if request.idempotency_key not in (None, idempotency_key):
        raise InvalidField("idempotency_key", "the header Idempotency-Key has another value")
    return request.model_copy(update={"idempotency_key": idempotency_key})
