"""Format `mailqueue`: the stored payload, signed as Standard Webhooks say."""

from mailqueue.webhooks.formats.model import (
    FormatName,
    SignedRequest,
    UnsignedRequest,
    WebhookFormat,
)
from mailqueue.webhooks.model import EventType
from mailqueue.webhooks.signing import headers_of, key_of, new_secret, secret_of


def _sign(request: UnsignedRequest) -> SignedRequest:
    headers = headers_of(
        request.event_id,
        request.body,
        at=request.at,
        keys=request.keys,
        content_type=request.content_type,
    )
    return SignedRequest(headers, request.body)


MAILQUEUE_FORMAT = WebhookFormat(
    name=FormatName.MAILQUEUE,
    types=tuple(EventType),
    write=None,
    sign=_sign,
    make_secret=new_secret,
    read_secret=secret_of,
    key_of=key_of,
    signs_twice=True,
)
