"""A shop that sends by Mailgun's library.

MAILGUN_API_KEY is its key. With MAILGUN_API_URL it sends by mailqueue; nothing else changes.
"""

import json
import os
from typing import Any

from mailgun.client import Client
from mailgun.security import SecurityGuard

DOMAIN = "example.com"
FROM = "Shop <shop@example.com>"


def client() -> Client:
    """Return the library's client."""
    url = os.environ.get("MAILGUN_API_URL", "https://api.mailgun.net")
    return Client(auth=("api", os.environ["MAILGUN_API_KEY"]), api_url=url)


def prepare(url: str) -> tuple[str, str]:
    """Add the template of reminders, and a webhook for bounces.

    Return the template's name, and the key that verifies the webhook.
    """
    with client() as api:
        api.templates.create(
            domain=DOMAIN,
            data={
                "name": "unpaid-order",
                "template": "<p>Order {{order}} waits for its payment.</p>",
                "engine": "handlebars",
            },
        ).raise_for_status()
        hook = api.domains_webhooks.create(
            domain=DOMAIN, data={"id": "permanent_fail", "url": [url]}
        )
        hook.raise_for_status()
        return "unpaid-order", hook.json()["http_signing_key"]


def send(**fields: Any) -> str:
    """Send a mail; return its id."""
    with client() as api:
        sent = api.messages.create(domain=DOMAIN, data={"from": FROM, **fields})
    sent.raise_for_status()
    return sent.json()["id"].strip("<>")


def confirm(order: str, to: str) -> str:
    """Send the confirmation of an order; return the mail's id."""
    html = f"<p>Thank you for your order {order}.</p>"
    return send(to=to, subject=f"Your order {order}", html=html, **{"o:tag": "order"})


def announce(orders: dict[str, str]) -> list[str]:
    """Send a mail for each order to its buyer, in one request; return the ids of their mails."""
    variables = {to: {"order": order} for order, to in orders.items()}
    send(
        to=list(variables),
        subject="Order %recipient.order% is on its way",
        text="Today.",
        **{"recipient-variables": json.dumps(variables)},
    )
    return [one for to in variables for one in mails_to(to)]


def remind(template: str, order: str, to: str) -> str:
    """Send a reminder from the template; return the mail's id."""
    words = {"template": template, "t:variables": json.dumps({"order": order})}
    return send(to=to, subject=f"Your order {order} waits", **words)


def bounced(secret: str, headers: dict[str, str], body: bytes) -> list[str]:
    """Return the addresses that a request of the webhook names, once it is verified."""
    del headers  # the signature is in the body
    told = json.loads(body)
    signed = told["signature"]
    if not SecurityGuard.verify_webhook(
        secret, signed["token"], signed["timestamp"], signed["signature"]
    ):
        raise PermissionError("not a request of the webhook")
    failed = told["event-data"]
    return [failed["recipient"]] if failed["event"] == "failed" else []


def blocked() -> list[str]:
    """Return the addresses that are not written to since their mail bounced."""
    with client() as api:
        return [each["address"] for each in api.bounces.get(domain=DOMAIN).json()["items"]]


def mails_to(address: str) -> list[str]:
    """Return the ids of an address's mails, the oldest first."""
    asked = {"recipient": address, "event": "accepted", "ascending": "yes"}
    with client() as api:
        found = api.events.get(domain=DOMAIN, filters=asked).json()["items"]
    return [each["message"]["headers"]["message-id"] for each in found]
