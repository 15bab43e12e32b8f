"""A shop that sends by Postmark's library of Python, postmarker.

POSTMARK_SERVER_TOKEN is its key. With POSTMARK_API_URL it sends by mailqueue; nothing else changes.
"""

import base64
import hmac
import json
import os
from typing import Any

from postmarker.core import DEFAULT_API, PostmarkClient

FROM = "Shop <shop@example.com>"
LOGIN = "shop"


def client() -> PostmarkClient:
    """Return the library's client."""
    return PostmarkClient(
        server_token=os.environ["POSTMARK_SERVER_TOKEN"],
        root_api_url=os.environ.get("POSTMARK_API_URL", DEFAULT_API),
    )


def prepare(url: str) -> tuple[str, str]:
    """Add the template of reminders, and a webhook for bounces.

    Return the template's alias, and the password that the webhook's requests have.
    """
    client().templates.create(
        Name="Reminder",
        Alias="reminder",
        Subject="Your order {{order}} waits",
        HtmlBody="<p>Order {{order}} waits for its payment.</p>",
    )
    password = os.urandom(16).hex()
    client().call(
        "POST",
        "/webhooks",
        data={
            "Url": url,
            "HttpAuth": {"Username": LOGIN, "Password": password},
            "Triggers": {"Bounce": {"Enabled": True}},
        },
    )
    return "reminder", password


def confirm(order: str, to: str) -> str:
    """Send the confirmation of an order; return the mail's id."""
    sent: Any = client().emails.send(
        From=FROM,
        To=to,
        Subject=f"Your order {order}",
        HtmlBody=f"<p>Thank you for your order {order}.</p>",
        Tag="order",
    )
    return sent["MessageID"]


def announce(orders: dict[str, str]) -> list[str]:
    """Send a mail for each order to its buyer, in one request; return their ids."""
    sent: Any = client().emails.send_batch(
        *(
            {
                "From": FROM,
                "To": to,
                "Subject": f"Order {order} is on its way",
                "TextBody": "Today.",
            }
            for order, to in orders.items()
        )
    )
    return [each["MessageID"] for each in sent]


def remind(template: str, order: str, to: str) -> str:
    """Send a reminder from the template; return the mail's id."""
    sent: Any = client().emails.send_with_template(
        TemplateId=None, TemplateAlias=template, TemplateModel={"order": order}, From=FROM, To=to
    )
    return sent["MessageID"]


def bounced(secret: str, headers: dict[str, str], body: bytes) -> list[str]:
    """Return the addresses that a request of the webhook names, once its login is checked."""
    login = base64.b64encode(f"{LOGIN}:{secret}".encode()).decode()
    if not hmac.compare_digest(headers["authorization"], f"Basic {login}"):
        raise PermissionError("not a request of the webhook")
    told = json.loads(body)
    return [told["Email"]] if told["RecordType"] == "Bounce" else []


def blocked() -> list[str]:
    """Return the addresses that are not written to since their mail bounced."""
    found = client().call(
        "GET", "/message-streams/outbound/suppressions/dump", SuppressionReason="HardBounce"
    )
    return [each["EmailAddress"] for each in found["Suppressions"]]


def mails_to(address: str) -> list[str]:
    """Return the ids of an address's mails, the newest first."""
    return [each.MessageID for each in client().messages.outbound.all(recipient=address)]
