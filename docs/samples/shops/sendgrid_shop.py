"""A shop that sends by SendGrid's library.

SENDGRID_API_KEY is its key. With SENDGRID_API_URL it sends by mailqueue; nothing else changes.
"""

import json
import os
from typing import Any

from sendgrid import SendGridAPIClient
from sendgrid.helpers.eventwebhook import EventWebhook, EventWebhookHeader
from sendgrid.helpers.mail import Category, Mail, Personalization, To

FROM = ("shop@example.com", "Shop")


def client() -> SendGridAPIClient:
    """Return the library's client."""
    url = os.environ.get("SENDGRID_API_URL", "https://api.sendgrid.com")
    return SendGridAPIClient(os.environ["SENDGRID_API_KEY"], host=url)


def read(response: Any) -> Any:
    """Return the document of a response."""
    return json.loads(response.body)


def prepare(url: str) -> tuple[str, str]:
    """Add the template of reminders, and a webhook for bounces.

    Return the template's id, and the public key that verifies the webhook.
    """
    api = client().client
    made = read(api.templates.post(request_body={"name": "Reminder", "generation": "dynamic"}))
    api.templates._(made["id"]).versions.post(
        request_body={
            "name": "First",
            "subject": "Your order {{order}} waits",
            "html_content": "<p>Order {{order}} waits for its payment.</p>",
            "active": 1,
        }
    )
    settings = {"enabled": True, "url": url, "bounce": True}
    hook = read(api.user.webhooks.event.settings.post(request_body=settings))
    signed = api.user.webhooks.event.settings.signed._(hook["id"])
    return made["id"], read(signed.patch(request_body={"enabled": True}))["public_key"]


def confirm(order: str, to: str) -> str:
    """Send the confirmation of an order; return the mail's id."""
    mail = Mail(
        from_email=FROM,
        to_emails=to,
        subject=f"Your order {order}",
        html_content=f"<p>Thank you for your order {order}.</p>",
    )
    mail.category = Category("order")
    return client().send(mail).headers["X-Message-Id"]


def announce(orders: dict[str, str]) -> list[str]:
    """Send a mail for each order to its buyer, in one request; return the ids of their mails."""
    mail = Mail(from_email=FROM, subject="On its way", plain_text_content="Order -order-: today.")
    for order, to in orders.items():
        each = Personalization()
        each.add_to(To(to, substitutions={"-order-": order}))
        mail.add_personalization(each)
    client().send(mail)
    return [one for to in orders.values() for one in mails_to(to)]


def remind(template: str, order: str, to: str) -> str:
    """Send a reminder from the template; return the mail's id."""
    mail = Mail(from_email=FROM, to_emails=to)
    mail.template_id = template
    mail.dynamic_template_data = {"order": order}
    return client().send(mail).headers["X-Message-Id"]


def bounced(secret: str, headers: dict[str, str], body: bytes) -> list[str]:
    """Return the addresses that a request of the webhook names, once it is verified."""
    is_signed = EventWebhook(secret).verify_signature(
        body.decode(),
        headers[EventWebhookHeader.SIGNATURE.lower()],
        headers[EventWebhookHeader.TIMESTAMP.lower()],
    )
    if not is_signed:
        raise PermissionError("not a request of the webhook")
    return [each["email"] for each in json.loads(body) if each["event"] == "bounce"]


def blocked() -> list[str]:
    """Return the addresses that are not written to since their mail bounced."""
    return [each["email"] for each in read(client().client.suppression.bounces.get())]


def mails_to(address: str) -> list[str]:
    """Return the ids of an address's mails, the newest first."""
    query = {"query": f'to_email="{address}"', "limit": 100}
    found = read(client().client.messages.get(query_params=query))
    return [each["msg_id"] for each in found["messages"]]
