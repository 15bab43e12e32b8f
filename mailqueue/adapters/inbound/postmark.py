"""Postmark's webhooks: one event per request, authenticated by a password or a secret header.

Follows postmarkapp.com/developer/webhooks/webhooks-overview and
github.com/ActiveCampaign/postmark.js, read in November 2026. A wrong secret is answered 401: after
a 403 Postmark stops retrying.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from mailqueue.adapters.inbound.event_types import ID_NAME, ProviderEventType, ProviderSuppression
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

TYPE_BY_BOUNCE: Mapping[str, str | None] = {
    "HardBounce": ProviderEventType.HARD_BOUNCE,
    "BadEmailAddress": ProviderEventType.HARD_BOUNCE,
    "SpamComplaint": ProviderEventType.COMPLAINT,
    "SpamNotification": ProviderEventType.SOFT_BOUNCE,
    "Transient": ProviderEventType.DEFERRED,
    "SoftBounce": ProviderEventType.SOFT_BOUNCE,
    "DnsError": ProviderEventType.SOFT_BOUNCE,
    "Blocked": ProviderEventType.SOFT_BOUNCE,
    "DMARCPolicy": ProviderEventType.SOFT_BOUNCE,
    "VirusNotification": ProviderEventType.FAILED,
    "Unknown": ProviderEventType.SOFT_BOUNCE,
    "AutoResponder": None,
    "AddressChange": None,
    "ChallengeVerification": None,
    "OpenRelayTest": None,
    "Unsubscribe": ProviderEventType.UNSUBSCRIBED,
    "Subscribe": ProviderEventType.RESUBSCRIBED,
    "ManuallyDeactivated": ProviderEventType.FAILED,
    "Unconfirmed": ProviderEventType.FAILED,
    "SMTPApiError": ProviderEventType.FAILED,
    "InboundError": None,
    "TemplateRenderingFailed": ProviderEventType.FAILED,
}
BECAUSE_BY_BOUNCE: Mapping[str, str] = {
    "HardBounce": ProviderSuppression.HARD_BOUNCE,
    "BadEmailAddress": ProviderSuppression.HARD_BOUNCE,
    "SpamComplaint": ProviderSuppression.COMPLAINT,
    "Unsubscribe": ProviderSuppression.UNSUBSCRIBED,
}
HAPPENED_BY_REASON: Mapping[str, tuple[str, str]] = {
    "HardBounce": (ProviderEventType.HARD_BOUNCE, ProviderSuppression.HARD_BOUNCE),
    "SpamComplaint": (ProviderEventType.COMPLAINT, ProviderSuppression.COMPLAINT),
    "ManualSuppression": (ProviderEventType.UNSUBSCRIBED, ProviderSuppression.UNSUBSCRIBED),
}
EventMeaning = tuple[str | None, str | None]


class PostmarkEvents:
    """Verifies and parses the events of Postmark."""

    name = "postmark"
    max_bytes = 4 * 1024 * 1024  # a bounce may contain the text of the report

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
        payload = loaded(request.body)
        return Verified(_key(payload) if isinstance(payload, dict) else digest_of(request.body))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the event of a request."""
        payload = loaded(request.body)
        if not isinstance(payload, dict):
            return [BadEvent("the body is not a JSON object")]
        record = text(payload.get("RecordType"), 100)
        if record is None:
            return [BadEvent("RecordType is missing")]
        what, suppress = READ_BY_RECORD.get(record, _unknown)(payload)
        group, first = text(payload.get("Type"), 100), payload.get("FirstOpen")
        is_subscription = record == "SubscriptionChange"
        return [
            ProviderEvent(
                type=what,
                kind=f"{record} {group}" if record == "Bounce" and group else record,
                event_id=_key(payload),
                email_id=mail_id(part(payload, "Metadata", ID_NAME)),
                provider_message_id=text(payload.get("MessageID"), 200),
                recipient=address(payload.get("Recipient")) or address(payload.get("Email")),
                occurred_at=next(
                    (at for name in _TIMES if (at := instant(payload.get(name)))), None
                ),
                detail=text(payload.get("Details")) or text(payload.get("Description")),
                code=text(payload.get("ErrorCode"), 20),
                suppress=suppress,
                data=known(
                    bounce_type=text(payload.get("Type"), 100),
                    stream=text(payload.get("MessageStream"), 100),
                    url=text(payload.get("OriginalLink"), MAX_URL_CHARACTERS),
                    user_agent=text(payload.get("UserAgent"), 300),
                    ip=network(part(payload, "Geo", "IP")),
                    is_first=first if isinstance(first, bool) else None,
                    origin=text(payload.get("Origin"), 50) if is_subscription else None,
                    reason=text(payload.get("SuppressionReason"), 100),
                ),
            )
        ]


def _key(payload: JsonObject) -> str:
    record = text(payload.get("RecordType"), 100) or ""
    number = text(payload.get("ID"), 40)
    if record in ("Bounce", "SpamComplaint") and number is not None:
        return f"{record}:{number}"
    at = next((found for name in _TIMES if (found := text(payload.get(name), 64))), "")
    names = ("MessageID", "Recipient", "OriginalLink", "SuppressSending")
    return f"{record}:{digest_of(at, *(str(payload.get(name)) for name in names))}"


_TIMES = ("DeliveredAt", "BouncedAt", "ChangedAt", "ReceivedAt")


def _bounce(payload: JsonObject) -> EventMeaning:
    group = text(payload.get("Type"), 100) or "Unknown"
    # An unknown type is a permanent bounce, but no evidence that the address does not exist.
    what = TYPE_BY_BOUNCE.get(group, ProviderEventType.SOFT_BOUNCE)
    if group == "ManuallyDeactivated":
        return what, ProviderSuppression.MANUAL
    if payload.get("Inactive") is True:  # Postmark no longer sends to the address
        return what, BECAUSE_BY_BOUNCE.get(group, ProviderSuppression.MANUAL)
    return what, None


def _complaint(payload: JsonObject) -> EventMeaning:
    return ProviderEventType.COMPLAINT, ProviderSuppression.COMPLAINT if payload.get(
        "Inactive"
    ) is True else None


def _subscription(payload: JsonObject) -> EventMeaning:
    if payload.get("SuppressSending") is False:
        return ProviderEventType.RESUBSCRIBED, None
    if payload.get("SuppressSending") is not True:
        return None, None
    reason = text(payload.get("SuppressionReason"), 100) or "ManualSuppression"
    return HAPPENED_BY_REASON.get(
        reason, (ProviderEventType.UNSUBSCRIBED, ProviderSuppression.MANUAL)
    )


def _unknown(_payload: JsonObject) -> EventMeaning:
    return None, None


READ_BY_RECORD: Mapping[str, Callable[[JsonObject], EventMeaning]] = {
    "Delivery": lambda _: (ProviderEventType.DELIVERED, None),
    "Bounce": _bounce,
    "SpamComplaint": _complaint,
    "Open": lambda _: (ProviderEventType.OPENED, None),
    "Click": lambda _: (ProviderEventType.CLICKED, None),
    "SubscriptionChange": _subscription,
    "SMTPApiError": lambda _: (ProviderEventType.FAILED, None),
}
