"""SendGrid's event webhook: batches, signed with ECDSA over the timestamp and the raw body.

Follows docs.sendgrid.com/for-developers/tracking-events/event and the eventwebhook helper of
github.com/sendgrid/sendgrid-python, read in November 2026.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from mailqueue.adapters.inbound.event_types import ID_NAME, ProviderEventType, ProviderSuppression
from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    address,
    elements_of,
    instant,
    known,
    mail_id,
    network,
    text,
)
from mailqueue.adapters.inbound.proof import base64_of, digest_of, is_fresh, seconds_of
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    JsonObject,
    NotVerified,
    ProviderEvent,
    VerificationSecrets,
    Verified,
)

SIGNATURE = "x-twilio-email-event-webhook-signature"
TIMESTAMP = "x-twilio-email-event-webhook-timestamp"
# SendGrid retries for 24 hours, and does not document that each retry is signed again.
MAX_AGE = timedelta(hours=25)
MAX_AHEAD = timedelta(minutes=5)

TYPE_BY_EVENT: Mapping[str, str] = {
    "processed": ProviderEventType.SENT,
    "deferred": ProviderEventType.DEFERRED,
    "delivered": ProviderEventType.DELIVERED,
    "bounce": ProviderEventType.HARD_BOUNCE,
    "blocked": ProviderEventType.SOFT_BOUNCE,  # a bounce type; older: an event type
    "dropped": ProviderEventType.FAILED,
    "open": ProviderEventType.OPENED,
    "click": ProviderEventType.CLICKED,
    "spamreport": ProviderEventType.COMPLAINT,
    "unsubscribe": ProviderEventType.UNSUBSCRIBED,
    "group_unsubscribe": ProviderEventType.UNSUBSCRIBED,
    "group_resubscribe": ProviderEventType.RESUBSCRIBED,
}
BECAUSE_BY_DROP: Mapping[str, str] = {
    "bounced address": ProviderSuppression.HARD_BOUNCE,
    "unsubscribed address": ProviderSuppression.UNSUBSCRIBED,
    "spam reporting address": ProviderSuppression.COMPLAINT,
    "invalid": ProviderSuppression.HARD_BOUNCE,
}


class SendGridEvents:
    """Verifies and parses the events of SendGrid."""

    name = "sendgrid"
    max_bytes = 8 * 1024 * 1024

    async def verify(
        self, request: InboundRequest, secrets: VerificationSecrets, now: datetime
    ) -> Verified | NotVerified:
        """Check the age, and the signature with the account's public keys."""
        written = request.headers.get(TIMESTAMP, "")
        seconds = seconds_of(written)
        signature = base64_of(request.headers.get(SIGNATURE, ""))
        if seconds is None or not signature:
            return NotVerified("the request is not signed")
        if not is_fresh(seconds, now, past=MAX_AGE, ahead=MAX_AHEAD):
            return NotVerified("the timestamp is too old or in the future")
        signed = written.encode() + request.body
        if not any(_is_signed(signed, signature, key) for key in secrets.signing):
            return NotVerified("the signature is wrong")
        return Verified(digest_of(request.body))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the events of the batch."""
        return [
            one if isinstance(one, BadEvent) else _event(one) for one in elements_of(request.body)
        ]


def _is_signed(signed: bytes, signature: bytes, written_key: str) -> bool:
    lines = [line for line in written_key.split("\n") if not line.startswith("-----")]
    try:
        key = load_der_public_key(base64.b64decode("".join(lines).strip(), validate=True))
    except (ValueError, binascii.Error, UnsupportedAlgorithm):
        return False
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        return False
    try:
        key.verify(signature, signed, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _event(payload: JsonObject) -> ProviderEvent | BadEvent:
    kind = text(payload.get("event"), 100)
    if kind is None:
        return BadEvent("an element without event")
    what, suppress = _meaning(kind, payload)
    message = text(payload.get("sg_message_id"))
    return ProviderEvent(
        type=what,
        kind=kind,
        event_id=text(payload.get("sg_event_id"), 200),
        email_id=mail_id(payload.get(ID_NAME)),
        provider_message_id=message.partition(".")[0] if message else None,
        message_id=text(payload.get("smtp-id")),
        recipient=address(payload.get("email")),
        occurred_at=instant(payload.get("timestamp")),
        code=text(payload.get("status"), 20),
        detail=text(payload.get("reason")) or text(payload.get("response")),
        suppress=suppress,
        data=_data(kind, payload),
    )


def _meaning(kind: str, payload: JsonObject) -> tuple[str | None, str | None]:
    what = TYPE_BY_EVENT.get(kind)
    if kind == "bounce":
        group = text(payload.get("type"))
        return (ProviderEventType.SOFT_BOUNCE if group == "blocked" else what), None
    if kind == "dropped":
        reason = (text(payload.get("reason")) or "").lower()
        return what, BECAUSE_BY_DROP.get(reason)
    return what, None


def _data(kind: str, payload: JsonObject) -> JsonObject:
    is_visit = kind in ("open", "click")
    return known(
        bounce_type=text(payload.get("type"), 50) if kind == "bounce" else None,
        classification=text(payload.get("bounce_classification"), 100),
        url=text(payload.get("url"), MAX_URL_CHARACTERS),
        user_agent=text(payload.get("useragent"), 300),
        ip=network(payload.get("ip")) if is_visit else None,
        is_machine=True if payload.get("sg_machine_open") is True else None,
        group=text(payload.get("asm_group_id"), 50),
        attempt=text(payload.get("attempt"), 20),
    )
