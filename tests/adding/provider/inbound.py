"""SparkPost's webhooks: a batch of events a call, proved by a password or secret it sends along.

Follows developers.sparkpost.com/api/webhooks and support.sparkpost.com, "Bounce Classification
Codes".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from mailqueue.adapters.inbound.event_types import ID_NAME, ProviderEventType
from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    address,
    elements_of,
    instant,
    known,
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

HARD_CLASSES = frozenset({"10", "30", "90"})
TYPE_BY_EVENT: Mapping[str, str] = {
    "injection": ProviderEventType.SENT,
    "delivery": ProviderEventType.DELIVERED,
    "delay": ProviderEventType.DEFERRED,
    "bounce": ProviderEventType.SOFT_BOUNCE,
    "out_of_band": ProviderEventType.SOFT_BOUNCE,
    "spam_complaint": ProviderEventType.COMPLAINT,
    "policy_rejection": ProviderEventType.FAILED,
    "generation_failure": ProviderEventType.FAILED,
    "generation_rejection": ProviderEventType.FAILED,
    "open": ProviderEventType.OPENED,
    "click": ProviderEventType.CLICKED,
    "list_unsubscribe": ProviderEventType.UNSUBSCRIBED,
    "link_unsubscribe": ProviderEventType.UNSUBSCRIBED,
}


class Sparkpost:
    """Verifies and parses the webhooks of SparkPost."""

    name = "sparkpost"
    max_bytes = 10 * 1024 * 1024

    async def verify(
        self,
        request: InboundRequest,
        secrets: VerificationSecrets,
        now: datetime,  # noqa: ARG002
    ) -> Verified | NotVerified:
        """Check the password or secret. Requests carry no signed timestamp, so their age is
        unknown.
        """
        refused = refusal_by_secret(request, secrets)
        if refused is not None:
            return refused
        batch = request.headers.get("x-messagesystems-batch-id")
        return Verified(text(batch, 200) or digest_of(request.body))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the events of a request."""
        return [
            one if isinstance(one, BadEvent) else _event(one) for one in elements_of(request.body)
        ]


def _event(element: JsonObject) -> ProviderEvent | BadEvent:
    groups = element.get("msys")
    said = next(iter(groups.values()), None) if isinstance(groups, dict) else None
    kind = text(said.get("type"), 100) if isinstance(said, dict) else None
    if not isinstance(said, dict) or kind is None:
        return BadEvent("it has no type")
    what = TYPE_BY_EVENT.get(kind)
    group = text(said.get("bounce_class"), 10)
    if what == ProviderEventType.SOFT_BOUNCE and group in HARD_CLASSES:
        what = ProviderEventType.HARD_BOUNCE
    return ProviderEvent(
        type=what,
        kind=f"{kind} {group}" if group else kind,
        event_id=text(said.get("event_id"), 200),
        email_id=mail_id(part(said, "rcpt_meta", ID_NAME)),
        provider_message_id=text(said.get("transmission_id"), 200),
        recipient=address(said.get("rcpt_to")),
        occurred_at=instant(said.get("timestamp")),
        detail=text(said.get("raw_reason")) or text(said.get("reason")),
        code=text(said.get("error_code"), 20),
        data=known(
            bounce_class=group,
            url=text(said.get("target_link_url"), MAX_URL_CHARACTERS),
            user_agent=text(said.get("user_agent"), 300),
            ip=network(part(said, "geo_ip", "ip")) or network(said.get("ip_address")),
        ),
    )
