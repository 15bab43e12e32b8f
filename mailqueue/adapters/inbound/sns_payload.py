"""Parses SES events, sent for a configuration set or for an identity. Pure."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from mailqueue.adapters.inbound.event_types import (
    ID_HEADER,
    ID_NAME,
    ProviderEventType,
    ProviderSuppression,
)
from mailqueue.adapters.inbound.json_values import (
    MAX_RECIPIENTS,
    MAX_URL_CHARACTERS,
    address,
    instant,
    known,
    mail_id,
    network,
    part,
    text,
    texts,
)
from mailqueue.ports.inbound import BadEvent, JsonObject, ProviderEvent

SUPPRESSED = frozenset({"Suppressed", "OnAccountSuppressionList", "UnsubscribedRecipient"})
"""The bounce subtype of mail that SES did not send; others with this meaning contain "suppress"."""


class _RecipientEvent(NamedTuple):
    """An event for one recipient; "" is all recipients of the email."""

    type: str | None
    recipient: Any = None
    code: str | None = None
    detail: str | None = None
    suppress: str | None = None
    data: JsonObject = MappingProxyType({})


def events_of(payload: JsonObject, event_id: str) -> Sequence[ProviderEvent | BadEvent]:
    """Return the events of one notification with id `event_id`."""
    kind = text(payload.get("eventType")) or text(payload.get("notificationType")) or ""
    name, read = READ_BY_KIND.get(kind, ("", _unknown))
    body = payload.get(name)
    if name and not isinstance(body, Mapping):
        return [BadEvent(f"{kind} without {name}")]
    body = body if isinstance(body, Mapping) else {}
    mail = payload.get("mail")
    events = read(body, mail if isinstance(mail, Mapping) else {})
    at = instant(body.get("timestamp")) or instant(part(mail, "timestamp"))
    return [
        ProviderEvent(
            type=one.type,
            kind=kind or "unknown",
            event_id=event_id if len(events) == 1 else f"{event_id}:{n}",
            email_id=_mail_id(mail),
            provider_message_id=text(part(mail, "messageId")),
            message_id=_message_id(mail),
            recipient=address(one.recipient),
            occurred_at=at,
            code=one.code,
            detail=one.detail,
            suppress=one.suppress,
            data=one.data,
        )
        for n, one in enumerate(events)
    ]


def _mail_id(mail: Any) -> Any:
    found = mail_id(part(mail, "tags", ID_NAME))
    return found or mail_id(_header(mail, ID_HEADER))


def _message_id(mail: Any) -> str | None:
    return text(part(mail, "commonHeaders", "messageId")) or _header(mail, "message-id")


def _header(mail: Any, name: str) -> str | None:
    headers = part(mail, "headers")
    if not isinstance(headers, list):
        return None
    for one in headers[:500]:
        if (text(part(one, "name")) or "").lower() == name:
            return text(part(one, "value"))
    return None


def _several(value: Any) -> list[Any]:
    return value[:MAX_RECIPIENTS] if isinstance(value, list) else []


def _sent(_body: JsonObject, mail: JsonObject) -> list[_RecipientEvent]:
    return _each(ProviderEventType.SENT, mail)


def _delivered(body: JsonObject, mail: JsonObject) -> list[_RecipientEvent]:
    detail = text(body.get("smtpResponse"))
    recipients = texts(body.get("recipients")) or texts(mail.get("destination"))
    return [
        _RecipientEvent(ProviderEventType.DELIVERED, one, detail=detail)
        for one in recipients or [""]
    ]


def _bounced(body: JsonObject, _mail: JsonObject) -> list[_RecipientEvent]:
    group, sub = text(body.get("bounceType")), text(body.get("bounceSubType"))
    events = []
    for one in _several(body.get("bouncedRecipients")) or [{}]:
        code = text(part(one, "status"), 20)
        detail = text(part(one, "diagnosticCode")) or f"{group} {sub}"
        what, suppress = _of_bounce(group, sub)
        data = known(bounce_type=group, bounce_sub_type=sub)
        events.append(
            _RecipientEvent(what, part(one, "emailAddress"), code, detail, suppress, data)
        )
    return events


def _of_bounce(group: str | None, sub: str | None) -> tuple[str, str | None]:
    if sub in SUPPRESSED or (sub and "suppress" in sub.lower()):
        is_wish = sub == "UnsubscribedRecipient"
        return (
            ProviderEventType.FAILED,
            ProviderSuppression.UNSUBSCRIBED if is_wish else ProviderSuppression.HARD_BOUNCE,
        )
    return (
        ProviderEventType.HARD_BOUNCE if group == "Permanent" else ProviderEventType.SOFT_BOUNCE
    ), None


def _complained(body: JsonObject, _mail: JsonObject) -> list[_RecipientEvent]:
    feedback = text(body.get("complaintFeedbackType"))
    sub = text(body.get("complaintSubType"))
    if feedback == "not-spam":
        return [_RecipientEvent(None, detail=feedback)]
    recipients = [part(one, "emailAddress") for one in _several(body.get("complainedRecipients"))]
    data = known(feedback_type=feedback, sub_type=sub, user_agent=text(body.get("userAgent"), 300))
    if sub == "OnAccountSuppressionList":  # not sent because of an earlier complaint
        return [
            _RecipientEvent(
                ProviderEventType.FAILED,
                one,
                detail=sub,
                suppress=ProviderSuppression.COMPLAINT,
                data=data,
            )
            for one in recipients or [""]
        ]
    if len(recipients) > 1:  # SES lists all recipients at the mailbox provider of the complaint
        data["one_of"] = [found for one in recipients if (found := address(one))]
        return [_RecipientEvent(ProviderEventType.COMPLAINT, detail=feedback, data=data)]
    return [
        _RecipientEvent(ProviderEventType.COMPLAINT, one, detail=feedback, data=data)
        for one in recipients or [""]
    ]


def _rejected(body: JsonObject, mail: JsonObject) -> list[_RecipientEvent]:
    return _each(ProviderEventType.FAILED, mail, detail=text(body.get("reason")))


def _not_rendered(body: JsonObject, mail: JsonObject) -> list[_RecipientEvent]:
    return _each(ProviderEventType.FAILED, mail, detail=text(body.get("errorMessage")))


def _opened(body: JsonObject, mail: JsonObject) -> list[_RecipientEvent]:
    return [_RecipientEvent(ProviderEventType.OPENED, _only(mail), data=_visit(body))]


def _clicked(body: JsonObject, mail: JsonObject) -> list[_RecipientEvent]:
    data = _visit(body) | known(url=text(body.get("link"), MAX_URL_CHARACTERS))
    return [_RecipientEvent(ProviderEventType.CLICKED, _only(mail), data=data)]


def _delayed(body: JsonObject, _mail: JsonObject) -> list[_RecipientEvent]:
    kind = text(body.get("delayType"))
    return [
        _RecipientEvent(
            ProviderEventType.DEFERRED,
            part(one, "emailAddress"),
            text(part(one, "status"), 20),
            text(part(one, "diagnosticCode")) or kind,
            data=known(delay_type=kind),
        )
        for one in _several(body.get("delayedRecipients")) or [{}]
    ]


def _subscription(body: JsonObject, mail: JsonObject) -> list[_RecipientEvent]:
    chosen = body.get("newTopicPreferences")
    topics = part(chosen, "topicSubscriptionStatus")
    statuses = [text(part(one, "subscriptionStatus")) for one in _several(topics)]
    is_over = part(chosen, "unsubscribeAll") is True or (
        bool(statuses) and all((one or "").lower() == "optout" for one in statuses)
    )
    data = known(contact_list=text(body.get("contactList")), source=text(body.get("source")))
    return [
        _RecipientEvent(ProviderEventType.UNSUBSCRIBED if is_over else None, _only(mail), data=data)
    ]


def _unknown(_body: JsonObject, _mail: JsonObject) -> list[_RecipientEvent]:
    return [_RecipientEvent(None)]


def _each(what: str, mail: JsonObject, *, detail: str | None = None) -> list[_RecipientEvent]:
    return [
        _RecipientEvent(what, one, detail=detail) for one in texts(mail.get("destination")) or [""]
    ]


def _only(mail: JsonObject) -> str:
    """Return the recipient if the email has one; opens and clicks do not name it."""
    recipients = texts(mail.get("destination"))
    return recipients[0] if len(recipients) == 1 else ""


def _visit(body: JsonObject) -> dict[str, Any]:
    return known(ip=network(body.get("ipAddress")), user_agent=text(body.get("userAgent"), 300))


READ_BY_KIND: Mapping[
    str, tuple[str, Callable[[JsonObject, JsonObject], list[_RecipientEvent]]]
] = {
    "Send": ("send", _sent),
    "Delivery": ("delivery", _delivered),
    "Bounce": ("bounce", _bounced),
    "Complaint": ("complaint", _complained),
    "Reject": ("reject", _rejected),
    "Open": ("open", _opened),
    "Click": ("click", _clicked),
    "Rendering Failure": ("failure", _not_rendered),
    "DeliveryDelay": ("deliveryDelay", _delayed),
    "Subscription": ("subscription", _subscription),
}
