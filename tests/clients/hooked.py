"""The four providers as django-anymail knows them, and webhooks in their formats."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from anymail.message import AnymailMessage
from anymail.signals import tracking
from anymail.webhooks.mailgun import MailgunTrackingWebhookView
from anymail.webhooks.postmark import PostmarkTrackingWebhookView
from anymail.webhooks.resend import ResendTrackingWebhookView
from anymail.webhooks.sendgrid import SendGridTrackingWebhookView
from django.core.mail import get_connection
from django.test import RequestFactory

from mailqueue.db.pool import connect
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.model import WithSecret
from tests import make
from tests.adapters.sending.fake import Fake, Request
from tests.clients.serving import Served
from tests.stream.reading import read_stream
from tests.webhooks.delivering import LOOPBACK, delivering, master, until

LINK, AGENT = "https://shop.example.com/order", "Mozilla/5.0"
REASON = "550 5.1.1 no such user"
TO = "to@example.org"
LOGIN = "hooks:s3cret"


@dataclass(frozen=True, slots=True)
class Vendor:
    """A provider: how anymail sends to it, reads its webhooks, and what it makes of each event."""

    name: str
    backend: Callable[[Served], Any]
    view: Callable[[WithSecret], Any]
    events: dict[str, tuple[str, str | None]]
    """Type and reject reason, in anymail's words, of each of our types."""


def _connection(name: str, **options: Any) -> Any:
    return get_connection(f"anymail.backends.{name}.EmailBackend", **options)


VENDORS = {
    "resend": Vendor(
        "resend",
        lambda site: _connection("resend", api_key=site.keys.live, api_url=site.url),
        lambda made: ResendTrackingWebhookView.as_view(signing_secret=made.secret.reveal()),
        {
            "sent": ("sent", None),
            "delivered": ("delivered", None),
            "deferred": ("deferred", None),
            "soft_bounce": ("bounced", "bounced"),
            "hard_bounce": ("bounced", "bounced"),
            "complaint": ("complained", None),
            "opened": ("opened", None),
            "clicked": ("clicked", None),
            # Resend has events of these names that anymail does not know.
            "expired": ("unknown", None),
            "suppressed": ("unknown", None),
        },
    ),
    "postmark": Vendor(
        "postmark",
        lambda site: _connection("postmark", server_token=site.keys.live, api_url=site.url),
        lambda made: PostmarkTrackingWebhookView.as_view(basic_auth=[made.secret.reveal()]),
        {
            "delivered": ("delivered", None),
            "deferred": ("deferred", None),
            "soft_bounce": ("bounced", "bounced"),
            "hard_bounce": ("bounced", "bounced"),
            "complaint": ("complained", "spam"),
            "opened": ("opened", None),
            "clicked": ("clicked", None),
            "unsubscribed": ("unsubscribed", "unsubscribed"),
            "resubscribed": ("subscribed", None),
        },
    ),
    "sendgrid": Vendor(
        "sendgrid",
        lambda site: _connection("sendgrid", api_key=site.keys.live, api_url=f"{site.url}/v3/"),
        lambda made: SendGridTrackingWebhookView.as_view(
            tracking_webhook_verification_key=made.webhook.public_key
        ),
        {
            "queued": ("queued", None),
            "delivered": ("delivered", None),
            "deferred": ("deferred", None),
            "soft_bounce": ("bounced", None),
            "hard_bounce": ("bounced", None),
            "complaint": ("complained", None),
            "opened": ("opened", None),
            "clicked": ("clicked", None),
            "unsubscribed": ("unsubscribed", None),
            "resubscribed": ("subscribed", None),
            "expired": ("rejected", "timed_out"),
            "suppressed": ("rejected", "bounced"),
        },
    ),
    "mailgun": Vendor(
        "mailgun",
        lambda site: _connection(
            "mailgun",
            api_key=site.keys.live,
            sender_domain="example.com",
            api_url=f"{site.url}/v3",
        ),
        lambda made: MailgunTrackingWebhookView.as_view(webhook_signing_key=made.secret.reveal()),
        {
            "queued": ("queued", None),
            "delivered": ("delivered", None),
            "deferred": ("deferred", "other"),
            "soft_bounce": ("bounced", "other"),
            "hard_bounce": ("bounced", "bounced"),
            "complaint": ("complained", None),
            "opened": ("opened", None),
            "clicked": ("clicked", None),
            "unsubscribed": ("unsubscribed", None),
            "expired": ("bounced", "other"),
            "suppressed": ("bounced", "bounced"),
        },
    ),
}


@dataclass
class Hooked:
    """A webhook in a provider's format, its receiver, and the worker's database."""

    site: Served
    made: WithSecret
    receiver: Fake

    def deliver(self, email_id: str, kinds: list[str], count: int) -> list[Request]:
        """Have events happen to an email; return the requests once there are so many."""
        return self.site.run(self._deliver(email_id, kinds, count))

    async def _deliver(self, email_id: str, kinds: list[str], count: int) -> list[Request]:
        async with connect(self.site.database) as conn:
            await conn.execute(_EVENTS, {"id": UUID(email_id), "kinds": kinds, "to": TO})
            await read_stream(conn)
        async with delivering(self.site.database):
            await until(self._has(count), what=f"{count} requests")
        return self.receiver.requests

    def _has(self, count: int) -> Callable[[], Any]:
        async def has() -> bool:
            await asyncio.sleep(0)
            return len(self.receiver.requests) >= count

        return has


# As the triggers of mail, history and log write them.
_EVENTS = """
INSERT INTO mailqueue.event_stream (project_id, type, email_id, recipient, occurred_at, facts)
SELECT p.id, 'email.' || k, %(id)s, %(to)s, now(), jsonb_strip_nulls(jsonb_build_object(
       'reason', CASE WHEN k = 'suppressed' THEN 'hard_bounce'
                      WHEN k NOT IN ('opened', 'clicked') THEN '550 5.1.1 no such user' END,
       'code', CASE WHEN k IN ('hard_bounce', 'soft_bounce', 'deferred') THEN '5.1.1' END,
       'url', CASE WHEN k = 'clicked' THEN 'https://shop.example.com/order' END,
       'user_agent', CASE WHEN k IN ('opened', 'clicked') THEN 'Mozilla/5.0' END,
       'ip', CASE WHEN k IN ('opened', 'clicked') THEN '192.0.2.0' END))
  FROM mailqueue.projects AS p, unnest(%(kinds)s::text[]) AS k WHERE p.name = 'default'
"""


async def added(site: Served, form: str, port: int) -> WithSecret:
    login = f"{LOGIN}@" if form == "postmark" else ""
    async with connect(site.database) as conn:
        return await endpoints.add(
            conn,
            await make.project_named(conn),
            url=f"http://{login}127.0.0.1:{port}/anymail/{form}/tracking/",
            event_types=[],
            description=None,
            secret=None,
            allowed=LOOPBACK.allowed_networks,
            master=master(),
            by="tests",
            form=form,
        )


def read(view: Any, request: Request, *, body: bytes | None = None) -> tuple[int, list[Any]]:
    """Have a view of anymail read a request; return its status and events."""
    heard: list[Any] = []

    def hear(event: Any, **_: Any) -> None:
        heard.append(event)

    headers = {f"HTTP_{name.upper().replace('-', '_')}": v for name, v in request.headers.items()}
    kind = request.headers["content-type"]
    given = RequestFactory().post(
        request.path, request.body if body is None else body, content_type=kind, **headers
    )
    tracking.connect(hear)
    try:
        return view(given).status_code, heard
    finally:
        tracking.disconnect(hear)


def sent_by(vendor: Vendor, site: Served) -> AnymailMessage:
    mail = AnymailMessage(
        "Your order",
        "Hello",
        "Acme <from@example.com>",
        ["To <to@example.org>"],
        connection=vendor.backend(site),
        tags=["welcome"],
        metadata={"order": "81"},
    )
    assert mail.send() == 1
    return mail


def stored_id(site: Served) -> str:
    """Return the id of the newest email, as a text."""
    ((found,),) = site.rows("SELECT max(id::text) FROM mailqueue.email_queue")
    return str(found)
