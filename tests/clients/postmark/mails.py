"""Mails that tests send by the library for Postmark and by its API."""

from typing import Any

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from tests.clients.serving import Served

HELLO = {
    "From": "Sender <sender@example.com>",
    "To": "receiver@example.org",
    "Subject": "Postmark test",
    "HtmlBody": "<html><body><strong>Hello</strong> dear Postmark user.</body></html>",
}


def code_of(postmark: PostmarkClient, **fields: Any) -> tuple[int, str]:
    """Send a message that is refused; return the code and the message of the library's error."""
    with pytest.raises(ClientError) as caught:
        postmark.emails.send(**{**HELLO, **fields})
    return caught.value.error_code, str(caught.value)


def post(
    site: Served, path: str, body: Any, *, token: str | None = None, **headers: str
) -> requests.Response:
    given = {"X-Postmark-Server-Token": token or site.keys.live, "Accept": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, bytes):
        given.setdefault("Content-Type", "application/json")
        return requests.post(f"{site.url}{path}", data=body, headers=given, timeout=60)
    return requests.post(f"{site.url}{path}", json=body, headers=given, timeout=60)
