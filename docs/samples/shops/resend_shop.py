"""A shop that sends by Resend's library.

RESEND_API_KEY is its key. With RESEND_API_URL it sends by mailqueue; nothing else changes.
"""

from typing import Any

import resend

FROM = "Shop <shop@example.com>"


def prepare(url: str) -> tuple[str, str]:
    """Add the template of reminders, and a webhook for bounces.

    Return the template's id, and the secret that verifies the webhook.
    """
    made: Any = resend.Templates.create(
        {
            "name": "Reminder",
            "subject": "Your order {{{ORDER}}} waits",
            "html": "<p>Order {{{ORDER}}} waits for its payment.</p>",
            "variables": [{"key": "ORDER", "type": "string"}],
        }
    )
    resend.Templates.publish(made["id"])
    hook: Any = resend.Webhooks.create({"endpoint": url, "events": ["email.bounced"]})
    return made["id"], hook["signing_secret"]


def confirm(order: str, to: str) -> str:
    """Send the confirmation of an order; return the mail's id."""
    sent = resend.Emails.send(
        {
            "from": FROM,
            "to": [to],
            "subject": f"Your order {order}",
            "html": f"<p>Thank you for your order {order}.</p>",
            "tags": [{"name": "kind", "value": "order"}],
        },
        {"idempotency_key": f"order-{order}"},
    )
    return sent["id"]


def announce(orders: dict[str, str]) -> list[str]:
    """Send a mail for each order to its buyer, in one request; return their ids."""
    sent = resend.Batch.send(
        [
            {"from": FROM, "to": [to], "subject": f"Order {order} is on its way", "text": "Today."}
            for order, to in orders.items()
        ]
    )
    return [each["id"] for each in sent["data"]]


def remind(template: str, order: str, to: str) -> str:
    """Send a reminder from the template; return the mail's id."""
    given = {"id": template, "variables": {"ORDER": order}}
    return resend.Emails.send({"from": FROM, "to": [to], "template": given})["id"]


def bounced(secret: str, headers: dict[str, str], body: bytes) -> list[str]:
    """Return the addresses that a request of the webhook names, once it is verified."""
    told: Any = resend.Webhooks.verify(
        {
            "payload": body.decode(),
            "headers": {
                "id": headers["svix-id"],
                "timestamp": headers["svix-timestamp"],
                "signature": headers["svix-signature"],
            },
            "webhook_secret": secret,
        }
    )
    return list(told["data"]["to"]) if told["type"] == "email.bounced" else []


def blocked() -> list[str]:
    """Return the addresses that are not written to since their mail bounced."""
    found: Any = resend.Suppressions.list({"origin": "bounce"})
    return [each["email"] for each in found["data"]]


def mails_to(address: str) -> list[str]:
    """Return the ids of an address's mails, the newest first."""
    found: Any = resend.Emails.list({"limit": 100})
    return [each["id"] for each in found["data"] if address in each["to"]]
