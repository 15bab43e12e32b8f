"""The published Python library of Resend, unmodified, against our server."""

import pytest
import resend

from tests.clients.serving import Served

HELLO: resend.Emails.SendParams = {
    "from": "Acme <onboarding@example.com>",
    "to": ["delivered@example.org"],
    "subject": "hello world",
    "html": "<strong>it works!</strong>",
}


@pytest.fixture(autouse=True)
def pointed(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resend, "api_url", site.url)
    monkeypatch.setattr(resend, "api_key", site.keys.live)


def test_a_mail_is_queued_as_the_library_describes_it(site: Served) -> None:
    sent = resend.Emails.send(HELLO)

    found = site.email(sent["id"])
    assert found["status"] == "pending"
