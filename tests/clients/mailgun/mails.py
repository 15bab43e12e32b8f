"""Mails that tests of Mailgun's API send, and their outcome."""

from typing import Any
from uuid import UUID

from tests.clients.serving import Served

DOMAIN = "example.com"


HI: dict[str, Any] = {
    "from": "Shop <shop@example.com>",
    "to": "ann@example.com",
    "subject": "Hello Vasyl Bodaj",
    "text": "Hello",
}


def email_of(site: Served, response: Any) -> dict[str, Any]:
    """Return the mail that a response names."""
    assert response.status_code == 200, response.text
    document = response.json()
    assert document["message"] == "Queued. Thank you."
    return site.email(UUID(document["id"][1:].partition("@")[0]))


def mails(site: Served, to: str) -> list[dict[str, Any]]:
    query = "SELECT id FROM mailqueue.email_queue WHERE recipient_email LIKE %s ORDER BY id"
    return [site.email(row[0]) for row in site.rows(query, to)]
