"""Mails that tests of SendGrid's API send, and their outcome."""

from typing import Any

import pytest
from python_http_client.exceptions import (
    HTTPError,
)
from sendgrid import SendGridAPIClient
from sendgrid.helpers.mail import Mail

from tests.clients.serving import Served

ERRORS = "http://sendgrid.com/docs/API_Reference/Web_API_v3/Mail/errors.html"


def hello(to: Any = "to@example.com", **more: Any) -> Mail:
    words = {"subject": "Sending with Twilio SendGrid is Fun"} | more
    return Mail(
        from_email="from_email@example.com",
        to_emails=to,
        html_content=words.pop("html_content", "<strong>and easy to do anywhere</strong>"),
        **words,
    )


def raw(**more: Any) -> dict[str, Any]:
    """Return a body as in the documentation."""
    return {
        "personalizations": [{"to": [{"email": "test@example.com"}], "subject": "Sending"}],
        "from": {"email": "test@example.com"},
        "content": [{"type": "text/plain", "value": "and easy to do anywhere"}],
    } | more


def refused(client: SendGridAPIClient, body: Any, kind: type[HTTPError]) -> list[dict[str, Any]]:
    """Return the errors that the library reports."""
    with pytest.raises(kind) as caught:
        client.send(body)
    assert type(caught.value) is kind
    errors: list[dict[str, Any]] = caught.value.to_dict["errors"]
    assert all(set(one) == {"message", "field", "help"} for one in errors)
    return errors


def mails(site: Served, to: str) -> list[dict[str, Any]]:
    query = "SELECT id FROM mailqueue.email_queue WHERE recipient_email LIKE %s ORDER BY id"
    return [site.email(row[0]) for row in site.rows(query, to)]
