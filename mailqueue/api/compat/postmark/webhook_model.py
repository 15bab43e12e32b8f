"""Webhooks in the form of Postmark's API: bodies, and triggers as our event types. Pure."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_pascal

from mailqueue.api.compat.postmark.model import Header
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.webhooks.formats.values import number_of
from mailqueue.webhooks.model import EventType, WebhookRow

STREAM = "outbound"
TRIGGERS: Mapping[str, tuple[EventType, ...]] = {
    "Open": (EventType.OPENED,),
    "Click": (EventType.CLICKED,),
    "Delivery": (EventType.DELIVERED,),
    "Bounce": (EventType.DEFERRED, EventType.SOFT_BOUNCE, EventType.HARD_BOUNCE),
    "SpamComplaint": (EventType.COMPLAINT,),
    "SubscriptionChange": (EventType.UNSUBSCRIBED, EventType.RESUBSCRIBED),
}
"""Our event types of each trigger."""


class _WebhookPart(StrictRequestModel):
    model_config = ConfigDict(alias_generator=to_pascal)


class Trigger(_WebhookPart):
    """Whether events of a kind are sent."""

    enabled: bool = False
    include_content: bool = False
    post_first_open_only: bool = False


class Triggers(_WebhookPart):
    """The kinds of events of a webhook; those left out stay as they are."""

    open: Trigger | None = None
    click: Trigger | None = None
    delivery: Trigger | None = None
    bounce: Trigger | None = None
    spam_complaint: Trigger | None = None
    subscription_change: Trigger | None = None


class HttpAuth(_WebhookPart):
    """User name and password that requests of a webhook carry."""

    username: StorableText
    password: StorableText


class ChangedWebhook(_WebhookPart):
    """The body of PUT /webhooks/{webhook_number}."""

    url: StorableText | None = None
    http_auth: HttpAuth | None = None
    http_headers: list[Header] | None = None
    triggers: Triggers | None = None


class AddedWebhook(ChangedWebhook):
    """The body of POST /webhooks."""

    url: StorableText
    message_stream: StorableText = STREAM
    triggers: Triggers = Field(default_factory=Triggers)


class PostmarkWebhookQuery(RequestModel):
    """The query of GET /webhooks."""

    messagestream: StorableText | None = None


def login_of(body: ChangedWebhook) -> str | None:
    """Return user name and password, separated by a colon; None if there are none.

    Raises:
        InvalidField: the body asks for headers, which webhooks do not have here.
    """
    if body.http_headers:
        raise InvalidField("HttpHeaders", "are not supported: use HttpAuth")
    if body.http_auth is None:
        return None
    if ":" in body.http_auth.username:
        raise InvalidField("HttpAuth.Username", "must not hold a colon")
    return f"{body.http_auth.username}:{body.http_auth.password}"


def types_of(triggers: Triggers, before: Collection[str] = ()) -> list[str]:
    """Return the event types of triggers; those left out keep what they were.

    Raises:
        InvalidField: no trigger is enabled, or one asks for what is not supported.
    """
    found: list[str] = []
    for name, types in TRIGGERS.items():
        one: Trigger | None = getattr(triggers, _FIELD[name])
        if one is None:
            found += [kind.value for kind in types if kind.value in before]
            continue
        if one.include_content or one.post_first_open_only:
            option = "IncludeContent" if one.include_content else "PostFirstOpenOnly"
            raise InvalidField(f"Triggers.{name}.{option}", "is not supported")
        found += [kind.value for kind in types if one.enabled]
    if not found:
        raise InvalidField("Triggers", "must enable at least one trigger")
    return found


_FIELD = {to_pascal(name): name for name in Triggers.model_fields}


def shown(one: WebhookRow, secret: Secret | None = None) -> dict[str, Any]:
    """Return a webhook; user name and password are in the answer that sets them alone."""
    types = set(one.event_types)
    triggers: dict[str, dict[str, bool]] = {
        name: {"Enabled": not types.isdisjoint(kinds)} for name, kinds in TRIGGERS.items()
    }
    triggers["Open"]["PostFirstOpenOnly"] = False
    for name in ("Bounce", "SpamComplaint"):
        triggers[name]["IncludeContent"] = False
    login = None
    if secret is not None:
        user, _, password = secret.reveal().partition(":")
        login = {"Username": user, "Password": password}
    return {
        "ID": number_of(one.id),
        "Url": one.url,
        "MessageStream": STREAM,
        "HttpAuth": login,
        "HttpHeaders": [],
        "Triggers": triggers,
    }
