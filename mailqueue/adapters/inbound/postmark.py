"""Postmark's webhooks: one event per request, authenticated by a password or a secret header.

Follows postmarkapp.com/developer/webhooks/webhooks-overview and
github.com/ActiveCampaign/postmark.js, read in November 2026. A wrong secret is answered 401: after
a 403 Postmark stops retrying.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    Json,
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
from mailqueue.adapters.inbound.words import ID_NAME, Because, Happened
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    ProviderEvent,
    Refused,
    Secrets,
    Verified,
)

TYPE_BY_BOUNCE: Mapping[str, str | None] = {
    "HardBounce": Happened.HARD_BOUNCE,
    "BadEmailAddress": Happened.HARD_BOUNCE,
    "SpamComplaint": Happened.COMPLAINT,
    "SpamNotification": Happened.SOFT_BOUNCE,
    "Transient": Happened.DEFERRED,
    "SoftBounce": Happened.SOFT_BOUNCE,
    "DnsError": Happened.SOFT_BOUNCE,
    "Blocked": Happened.SOFT_BOUNCE,
    "DMARCPolicy": Happened.SOFT_BOUNCE,
    "VirusNotification": Happened.FAILED,
    "Unknown": Happened.SOFT_BOUNCE,
    "AutoResponder": None,
    "AddressChange": None,
    "ChallengeVerification": None,
    "OpenRelayTest": None,
    "Unsubscribe": Happened.UNSUBSCRIBED,
    "Subscribe": Happened.RESUBSCRIBED,
    "ManuallyDeactivated": Happened.FAILED,
    "Unconfirmed": Happened.FAILED,
    "SMTPApiError": Happened.FAILED,
    "InboundError": None,
    "TemplateRenderingFailed": Happened.FAILED,
}
BECAUSE_BY_BOUNCE: Mapping[str, str] = {
    "HardBounce": Because.HARD_BOUNCE,
    "BadEmailAddress": Because.HARD_BOUNCE,
    "SpamComplaint": Because.COMPLAINT,
    "Unsubscribe": Because.UNSUBSCRIBED,
}
HAPPENED_BY_REASON: Mapping[str, tuple[str, str]] = {
    "HardBounce": (Happened.HARD_BOUNCE, Because.HARD_BOUNCE),
    "SpamComplaint": (Happened.COMPLAINT, Because.COMPLAINT),
    "ManualSuppression": (Happened.UNSUBSCRIBED, Because.UNSUBSCRIBED),
}
Meaning = tuple[str | None, str | None]


class PostmarkEvents:
    """Verifies and parses the events of Postmark."""

    name = "postmark"
    most_bytes = 4 * 1024 * 1024  # a bounce may contain the text of the report

    async def verify(
        self,
        request: InboundRequest,
        secrets: Secrets,
        now: datetime,  # noqa: ARG002
    ) -> Verified | Refused:
        """Check the password or secret.

        Requests carry no signed timestamp, so their age is unknown.
        """
        refused = refusal_by_secret(request, secrets)
        if refused is not None:
            return refused
        said = loaded(request.body)
        return Verified(_key(said) if isinstance(said, dict) else digest_of(request.body))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the event of a request."""
        said = loaded(request.body)
        if not isinstance(said, dict):
            return [BadEvent("the body is not a JSON object")]
        record = text(said.get("RecordType"), 100)
        if record is None:
            return [BadEvent("RecordType is missing")]
        what, suppress = READ_BY_RECORD.get(record, _unknown)(said)
        group = text(said.get("Type"), 100)
        return [
            ProviderEvent(
                type=what,
                kind=f"{record} {group}" if record == "Bounce" and group else record,
                event_id=_key(said),
                email_id=mail_id(part(said, "Metadata", ID_NAME)),
                provider_message_id=text(said.get("MessageID"), 200),
                recipient=address(said.get("Recipient")) or address(said.get("Email")),
                occurred_at=next((at for name in _TIMES if (at := instant(said.get(name)))), None),
                detail=text(said.get("Details")) or text(said.get("Description")),
                code=text(said.get("ErrorCode"), 20),
                suppress=suppress,
                data=_data(record, said),
            )
        ]


def _key(said: Json) -> str:
    record = text(said.get("RecordType"), 100) or ""
    number = text(said.get("ID"), 40)
    if record in ("Bounce", "SpamComplaint") and number is not None:
        return f"{record}:{number}"
    at = next((found for name in _TIMES if (found := text(said.get(name), 64))), "")
    names = ("MessageID", "Recipient", "OriginalLink", "SuppressSending")
    return f"{record}:{digest_of(at, *(str(said.get(name)) for name in names))}"


_TIMES = ("DeliveredAt", "BouncedAt", "ChangedAt", "ReceivedAt")


def _bounce(said: Json) -> Meaning:
    group = text(said.get("Type"), 100) or "Unknown"
    # An unknown type is a permanent bounce, but no evidence that the address does not exist.
    what = TYPE_BY_BOUNCE.get(group, Happened.SOFT_BOUNCE)
    if group == "ManuallyDeactivated":
        return what, Because.MANUAL
    if said.get("Inactive") is True:  # Postmark no longer sends to the address
        return what, BECAUSE_BY_BOUNCE.get(group, Because.MANUAL)
    return what, None


def _complaint(said: Json) -> Meaning:
    return Happened.COMPLAINT, Because.COMPLAINT if said.get("Inactive") is True else None


def _subscription(said: Json) -> Meaning:
    if said.get("SuppressSending") is False:
        return Happened.RESUBSCRIBED, None
    if said.get("SuppressSending") is not True:
        return None, None
    reason = text(said.get("SuppressionReason"), 100) or "ManualSuppression"
    return HAPPENED_BY_REASON.get(reason, (Happened.UNSUBSCRIBED, Because.MANUAL))


def _unknown(_said: Json) -> Meaning:
    return None, None


READ_BY_RECORD: Mapping[str, Callable[[Json], Meaning]] = {
    "Delivery": lambda _: (Happened.DELIVERED, None),
    "Bounce": _bounce,
    "SpamComplaint": _complaint,
    "Open": lambda _: (Happened.OPENED, None),
    "Click": lambda _: (Happened.CLICKED, None),
    "SubscriptionChange": _subscription,
    "SMTPApiError": lambda _: (Happened.FAILED, None),
}


def _data(record: str, said: Json) -> dict[str, Any]:
    return known(
        bounce_type=text(said.get("Type"), 100),
        stream=text(said.get("MessageStream"), 100),
        url=text(said.get("OriginalLink"), MAX_URL_CHARACTERS),
        user_agent=text(said.get("UserAgent"), 300),
        ip=network(part(said, "Geo", "IP")),
        is_first=said.get("FirstOpen") if isinstance(said.get("FirstOpen"), bool) else None,
        origin=text(said.get("Origin"), 50) if record == "SubscriptionChange" else None,
        reason=text(said.get("SuppressionReason"), 100),
    )
