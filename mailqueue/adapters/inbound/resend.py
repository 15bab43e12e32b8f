"""Resend's webhooks, signed by Svix: an HMAC over id, timestamp and raw body.

Follows resend.com/docs/dashboard/webhooks and docs.svix.com/receiving/verifying-payloads, read in
November 2026.
"""

import base64
import binascii
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from mailqueue.adapters.inbound.event_types import (
    ID_HEADER,
    ID_NAME,
    ProviderEventType,
    ProviderSuppression,
)
from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    address,
    instant,
    known,
    loaded,
    mail_id,
    network,
    part,
    text,
    texts,
)
from mailqueue.adapters.inbound.proof import digest_of, is_fresh, is_one_of, seconds_of
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    JsonObject,
    NotVerified,
    ProviderEvent,
    VerificationSecrets,
    Verified,
)

WINDOW = timedelta(minutes=5)
MAX_SIGNATURES = 20
PREFIX = "whsec_"

TYPE_BY_EVENT: Mapping[str, str] = {
    "email.scheduled": ProviderEventType.SENT,
    "email.sent": ProviderEventType.SENT,
    "email.delivered": ProviderEventType.DELIVERED,
    "email.delivery_delayed": ProviderEventType.DEFERRED,
    "email.bounced": ProviderEventType.SOFT_BOUNCE,
    "email.suppressed": ProviderEventType.FAILED,
    "email.failed": ProviderEventType.FAILED,
    "email.complained": ProviderEventType.COMPLAINT,
    "email.opened": ProviderEventType.OPENED,
    "email.clicked": ProviderEventType.CLICKED,
}
BECAUSE_BY_ORIGIN: Mapping[str, str] = {
    "bounce": ProviderSuppression.HARD_BOUNCE,
    "complaint": ProviderSuppression.COMPLAINT,
    "manual": ProviderSuppression.MANUAL,
}


class ResendEvents:
    """Verifies and parses the events of Resend."""

    name = "resend"
    max_bytes = 1024 * 1024

    async def verify(
        self, request: InboundRequest, secrets: VerificationSecrets, now: datetime
    ) -> Verified | NotVerified:
        """Check the age, and that one of the signatures was made with a secret of the account."""
        headers = request.headers
        name = "svix" if "svix-id" in headers else "webhook"
        message_id = headers.get(f"{name}-id", "")
        written = headers.get(f"{name}-timestamp", "")
        seconds = seconds_of(written)
        if not message_id or len(message_id) > 200 or seconds is None:
            return NotVerified("the request is not signed")
        if not is_fresh(seconds, now, past=WINDOW, ahead=WINDOW):
            return NotVerified("the timestamp is too old or in the future")
        signed = f"{message_id}.{written}.".encode("utf-8", "surrogatepass") + request.body
        right = [
            base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
            for secret in secrets.signing
            if (key := _key(secret))
        ]
        is_signed = False
        for one in headers.get(f"{name}-signature", "").split(" ")[:MAX_SIGNATURES]:
            version, _, given = one.partition(",")
            is_signed |= version == "v1" and is_one_of(given, right)
        return Verified(message_id) if is_signed else NotVerified("the signature is wrong")

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the event of a request."""
        payload = loaded(request.body)
        kind = text(part(payload, "type"), 100)
        if not isinstance(payload, dict) or kind is None:
            return [BadEvent("the body is not an event")]
        found = payload.get("data")
        data: JsonObject = found if isinstance(found, Mapping) else {}
        headers = request.headers
        event_id = headers.get("svix-id") or headers.get("webhook-id") or digest_of(request.body)
        what, suppress = _meaning(kind, data)
        at = instant(part(data, "click", "timestamp")) or instant(payload.get("created_at"))
        return [
            ProviderEvent(
                type=what,
                kind=kind,
                event_id=event_id,
                email_id=_mail_id(data),
                provider_message_id=text(data.get("email_id"), 200),
                message_id=text(data.get("message_id")),
                recipient=_recipient(kind, data),
                occurred_at=at,
                detail=_detail(data),
                suppress=suppress,
                data=_data(data),
            )
        ]


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (ValueError, binascii.Error):
        return b""


def _mail_id(data: JsonObject) -> Any:
    tags = data.get("tags")
    if isinstance(tags, list):  # the list of tags as it was sent
        named = {str(part(one, "name")): part(one, "value") for one in tags[:100]}
        return mail_id(named.get(ID_NAME))
    return mail_id(part(tags, ID_NAME)) or _of_header(data)


def _of_header(data: JsonObject) -> Any:
    headers = data.get("headers")
    if not isinstance(headers, list):
        return None
    for one in headers[:200]:
        if (text(part(one, "name")) or "").lower() == ID_HEADER:
            return mail_id(part(one, "value"))
    return None


def _recipient(kind: str, data: JsonObject) -> str | None:
    """Return the recipient if the email has one; events list all recipients of the email."""
    if kind.startswith("suppression."):
        return address(data.get("email"))
    recipients = [one for name in ("to", "cc", "bcc") for one in texts(data.get(name))]
    return address(recipients[0]) if len(recipients) == 1 else None


def _meaning(kind: str, data: JsonObject) -> tuple[str | None, str | None]:
    if kind == "email.bounced":
        group, sub = text(part(data, "bounce", "type")), text(part(data, "bounce", "subType"))
        payload = (text(part(data, "bounce", "message")) or "").lower()
        if "suppress" in (sub or "").lower() or "suppressed sending" in payload:
            return ProviderEventType.FAILED, ProviderSuppression.HARD_BOUNCE
        # Older events have no type, but a sentence.
        is_hard = group == "Permanent" or (group is None and "hard bounce" in payload)
        return (ProviderEventType.HARD_BOUNCE if is_hard else ProviderEventType.SOFT_BOUNCE), None
    if kind == "email.suppressed":
        return ProviderEventType.FAILED, _because(data)
    if kind == "suppression.added":
        return None, BECAUSE_BY_ORIGIN.get(
            text(data.get("origin")) or "", ProviderSuppression.MANUAL
        )
    return TYPE_BY_EVENT.get(kind), None


def _because(data: JsonObject) -> str:
    payload = (
        f"{text(part(data, 'suppressed', 'type'))} {text(part(data, 'suppressed', 'message'))}"
    )
    lowered = payload.lower()
    if "complain" in lowered or "spam" in lowered:
        return ProviderSuppression.COMPLAINT
    return ProviderSuppression.HARD_BOUNCE if "bounce" in lowered else ProviderSuppression.MANUAL


def _detail(data: JsonObject) -> str | None:
    return (
        text(part(data, "bounce", "message"))
        or text(part(data, "failed", "reason"))
        or text(part(data, "suppressed", "message"))
    )


def _data(data: JsonObject) -> dict[str, Any]:
    visit = part(data, "click") or part(data, "open")
    return known(
        bounce_type=text(part(data, "bounce", "type"), 50),
        bounce_sub_type=text(part(data, "bounce", "subType"), 50),
        url=text(part(visit, "link"), MAX_URL_CHARACTERS),
        user_agent=text(part(visit, "userAgent"), 300),
        ip=network(part(visit, "ipAddress")),
        origin=text(data.get("origin"), 50),
    )
