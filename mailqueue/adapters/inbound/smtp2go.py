"""SMTP2GO's webhooks: JSON or a form, authenticated by a password or secret in the URL.

Follows support.smtp2go.com/hc/en-gb/articles/223087927-Webhooks, read in November 2026.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import parse_qsl

from mailqueue.adapters.inbound.event_types import ID_HEADER, ProviderEventType
from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    address,
    instant,
    known,
    loaded,
    mail_id,
    network,
    text,
    texts,
)
from mailqueue.adapters.inbound.proof import digest_of, refusal_by_secret
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    JsonObject,
    NotVerified,
    ProviderEvent,
    VerificationSecrets,
    Verified,
)

MAX_FIELDS = 200
TYPE_BY_EVENT: Mapping[str, str] = {
    "processed": ProviderEventType.SENT,
    "delivered": ProviderEventType.DELIVERED,
    "bounce": ProviderEventType.SOFT_BOUNCE,
    "reject": ProviderEventType.FAILED,
    "spam": ProviderEventType.COMPLAINT,
    "unsubscribe": ProviderEventType.UNSUBSCRIBED,
    "resubscribe": ProviderEventType.RESUBSCRIBED,
    "open": ProviderEventType.OPENED,
    "click": ProviderEventType.CLICKED,
}


class Smtp2goEvents:
    """Verifies and parses the events of SMTP2GO."""

    name = "smtp2go"
    max_bytes = 1024 * 1024

    async def verify(
        self,
        request: InboundRequest,
        secrets: VerificationSecrets,
        now: datetime,  # noqa: ARG002
    ) -> Verified | NotVerified:
        """Check the password or secret.

        Requests carry no signed timestamp, so their age is unknown.
        """
        refused = refusal_by_secret(request, secrets)
        if refused is not None:
            return refused
        return Verified(text(_payload(request).get("id"), 200) or digest_of(request.body))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the event of a request."""
        payload = _payload(request)
        kind = text(payload.get("event"), 100)
        if kind is None:
            return [BadEvent("the field event is missing")]
        what = TYPE_BY_EVENT.get(kind.lower())
        bounce = text(payload.get("bounce"), 20)
        if what == ProviderEventType.SOFT_BOUNCE and (bounce or "").lower() == "hard":
            what = ProviderEventType.HARD_BOUNCE
        return [
            ProviderEvent(
                type=what,
                kind=f"{kind} {bounce}" if bounce else kind,
                event_id=text(payload.get("id"), 200) or digest_of(request.body),
                email_id=mail_id(_field(payload, ID_HEADER)),
                provider_message_id=text(payload.get("email_id"), 200),
                message_id=text(_field(payload, "message-id")),
                recipient=_recipient(payload),
                occurred_at=instant(payload.get("time")) or instant(payload.get("sendtime")),
                detail=text(payload.get("message")) or text(payload.get("reason")),
                data=_data(payload, bounce),
            )
        ]


def _payload(request: InboundRequest) -> JsonObject:
    content_type = request.headers.get("content-type", "").lower()
    body = request.body
    is_form = "form-urlencoded" in content_type or not body.lstrip().startswith((b"{", b"["))
    if not is_form:
        found = loaded(body)
        return found if isinstance(found, dict) else {}
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS
        )
    except ValueError:
        return {}
    return dict(pairs)


def _field(payload: JsonObject, lower_name: str) -> object:
    """Return the field that is named after a header, in any case."""
    for name, value in payload.items():
        if name.lower() == lower_name:
            return value
    return None


def _recipient(payload: JsonObject) -> str | None:
    found = address(payload.get("rcpt"))
    if found is not None:
        return found
    recipients = texts(payload.get("recipients"))
    return address(recipients[0]) if len(recipients) == 1 else None


def _data(payload: JsonObject, bounce: str | None) -> JsonObject:
    return known(
        bounce_type=bounce,
        host=text(payload.get("host"), 300),
        context=text(payload.get("context"), 100),
        url=text(payload.get("link"), MAX_URL_CHARACTERS)
        or text(payload.get("click_url"), MAX_URL_CHARACTERS),
        user_agent=text(payload.get("user-agent"), 300),
        ip=network(payload.get("srchost")),
    )
