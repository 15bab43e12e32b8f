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

from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    Json,
    address,
    elements_of,
    instant,
    known,
    mail_id,
    network,
    text,
)
from mailqueue.adapters.inbound.proof import base64_of, digest_of, is_fresh, seconds_of
from mailqueue.adapters.inbound.words import ID_NAME, Because, Happened
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    ProviderEvent,
    Refused,
    Secrets,
    Verified,
)

SIGNATURE = "x-twilio-email-event-webhook-signature"
TIMESTAMP = "x-twilio-email-event-webhook-timestamp"
# SendGrid retries for 24 hours, and does not document that each retry is signed again.
OLDEST = timedelta(hours=25)
AHEAD = timedelta(minutes=5)

TYPE_BY_EVENT: Mapping[str, str] = {
    "processed": Happened.SENT,
    "deferred": Happened.DEFERRED,
    "delivered": Happened.DELIVERED,
    "bounce": Happened.HARD_BOUNCE,
    "blocked": Happened.SOFT_BOUNCE,  # a type of bounce; an event type of some older accounts
    "dropped": Happened.FAILED,
    "open": Happened.OPENED,
    "click": Happened.CLICKED,
    "spamreport": Happened.COMPLAINT,
    "unsubscribe": Happened.UNSUBSCRIBED,
    "group_unsubscribe": Happened.UNSUBSCRIBED,
    "group_resubscribe": Happened.RESUBSCRIBED,
}
BECAUSE_BY_DROP: Mapping[str, str] = {
    "bounced address": Because.HARD_BOUNCE,
    "unsubscribed address": Because.UNSUBSCRIBED,
    "spam reporting address": Because.COMPLAINT,
    "invalid": Because.HARD_BOUNCE,
}


class SendGridEvents:
    """Verifies and parses the events of SendGrid."""

    name = "sendgrid"
    most_bytes = 8 * 1024 * 1024

    async def verify(
        self, request: InboundRequest, secrets: Secrets, now: datetime
    ) -> Verified | Refused:
        """Check the age, and the signature with the account's public keys."""
        written = request.headers.get(TIMESTAMP, "")
        seconds = seconds_of(written)
        signature = base64_of(request.headers.get(SIGNATURE, ""))
        if seconds is None or not signature:
            return Refused("the request is not signed")
        if not is_fresh(seconds, now, past=OLDEST, ahead=AHEAD):
            return Refused("the timestamp is too old or in the future")
        signed = written.encode() + request.body
        if not any(_is_signed(signed, signature, key) for key in secrets.signing):
            return Refused("the signature is wrong")
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


def _event(said: Json) -> ProviderEvent | BadEvent:
    kind = text(said.get("event"), 100)
    if kind is None:
        return BadEvent("an element without event")
    what, suppress = _meaning(kind, said)
    message = text(said.get("sg_message_id"))
    return ProviderEvent(
        type=what,
        kind=kind,
        event_id=text(said.get("sg_event_id"), 200),
        email_id=mail_id(said.get(ID_NAME)),
        provider_message_id=message.partition(".")[0] if message else None,
        message_id=text(said.get("smtp-id")),
        recipient=address(said.get("email")),
        occurred_at=instant(said.get("timestamp")),
        code=text(said.get("status"), 20),
        detail=text(said.get("reason")) or text(said.get("response")),
        suppress=suppress,
        data=_data(kind, said),
    )


def _meaning(kind: str, said: Json) -> tuple[str | None, str | None]:
    what = TYPE_BY_EVENT.get(kind)
    if kind == "bounce":
        group = text(said.get("type"))
        return (Happened.SOFT_BOUNCE if group == "blocked" else what), None
    if kind == "dropped":
        reason = (text(said.get("reason")) or "").lower()
        return what, BECAUSE_BY_DROP.get(reason)
    return what, None


def _data(kind: str, said: Json) -> Json:
    is_visit = kind in ("open", "click")
    return known(
        bounce_type=text(said.get("type"), 50) if kind == "bounce" else None,
        classification=text(said.get("bounce_classification"), 100),
        url=text(said.get("url"), MAX_URL_CHARACTERS),
        user_agent=text(said.get("useragent"), 300),
        ip=network(said.get("ip")) if is_visit else None,
        is_machine=True if said.get("sg_machine_open") is True else None,
        group=text(said.get("asm_group_id"), 50),
        attempt=text(said.get("attempt"), 20),
    )
