"""SMTP2GO's webhooks: JSON or a form, authenticated by a password or secret in the URL.

Follows support.smtp2go.com/hc/en-gb/articles/223087927-Webhooks, read in November 2026.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import parse_qsl

from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    Json,
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
from mailqueue.adapters.inbound.words import ID_HEADER, Happened
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    ProviderEvent,
    Refused,
    Secrets,
    Verified,
)

MAX_FIELDS = 200
TYPE_BY_EVENT: Mapping[str, str] = {
    "processed": Happened.SENT,
    "delivered": Happened.DELIVERED,
    "bounce": Happened.SOFT_BOUNCE,
    "reject": Happened.FAILED,
    "spam": Happened.COMPLAINT,
    "unsubscribe": Happened.UNSUBSCRIBED,
    "resubscribe": Happened.RESUBSCRIBED,
    "open": Happened.OPENED,
    "click": Happened.CLICKED,
}


class Smtp2goEvents:
    """Verifies and parses the events of SMTP2GO."""

    name = "smtp2go"
    most_bytes = 1024 * 1024

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
        return Verified(text(_said(request).get("id"), 200) or digest_of(request.body))

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the event of a request."""
        said = _said(request)
        kind = text(said.get("event"), 100)
        if kind is None:
            return [BadEvent("the field event is missing")]
        what = TYPE_BY_EVENT.get(kind.lower())
        bounce = text(said.get("bounce"), 20)
        if what == Happened.SOFT_BOUNCE and (bounce or "").lower() == "hard":
            what = Happened.HARD_BOUNCE
        return [
            ProviderEvent(
                type=what,
                kind=f"{kind} {bounce}" if bounce else kind,
                event_id=text(said.get("id"), 200) or digest_of(request.body),
                email_id=mail_id(_field(said, ID_HEADER)),
                provider_message_id=text(said.get("email_id"), 200),
                message_id=text(_field(said, "message-id")),
                recipient=_recipient(said),
                occurred_at=instant(said.get("time")) or instant(said.get("sendtime")),
                detail=text(said.get("message")) or text(said.get("reason")),
                data=_data(said, bounce),
            )
        ]


def _said(request: InboundRequest) -> Json:
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


def _field(said: Json, wanted: str) -> object:
    """Return the field that is named after a header, in any case."""
    for name, value in said.items():
        if name.lower() == wanted:
            return value
    return None


def _recipient(said: Json) -> str | None:
    found = address(said.get("rcpt"))
    if found is not None:
        return found
    recipients = texts(said.get("recipients"))
    return address(recipients[0]) if len(recipients) == 1 else None


def _data(said: Json, bounce: str | None) -> Json:
    return known(
        bounce_type=bounce,
        host=text(said.get("host"), 300),
        context=text(said.get("context"), 100),
        url=text(said.get("link"), MAX_URL_CHARACTERS)
        or text(said.get("click_url"), MAX_URL_CHARACTERS),
        user_agent=text(said.get("user-agent"), 300),
        ip=network(said.get("srchost")),
    )
