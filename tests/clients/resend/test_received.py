"""The published Python library of Resend reads bounce mail that the project received."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.projects.model import Scope
from tests.clients.postmark.test_inbound import put
from tests.clients.serving import Served

pytestmark = pytest.mark.usefixtures("resend_here")
Receiving = resend.Emails.Receiving


@pytest.fixture(autouse=True)
def without_mail(site: Served) -> Iterator[None]:
    site.rows("DELETE FROM mailqueue.inbound_events RETURNING 1")
    yield
    site.rows("DELETE FROM mailqueue.inbound_events RETURNING 1")


def ids(found: Any) -> list[str]:
    return [one["id"] for one in found["data"]]


def test_received_mail_is_listed_newest_first_in_both_directions(site: Served) -> None:
    made = [put(site, "processed") for _ in range(23)]
    put(site, "processed", project="other")
    newest = made[::-1]

    first: Any = Receiving.list({"limit": 22})
    rest: Any = Receiving.list({"limit": 22, "after": newest[21]})
    newer: Any = Receiving.list({"limit": 21, "before": newest[22]})

    assert (ids(first), first["has_more"]) == (newest[:22], True)
    assert (ids(rest), rest["has_more"]) == (newest[22:], False)
    assert (ids(newer), newer["has_more"]) == (newest[1:22], True)
    assert len(Receiving.list()["data"]) == 20


def test_received_mail_is_shown_with_what_it_says(site: Served) -> None:
    one: Any = Receiving.get(put(site, "failed"))

    assert (one["object"], one["from"]) == ("email", "Mail System <MAILER-DAEMON@mx.example.com>")
    assert one["to"] == ["shop@example.org", "J\u00fcrgen <j@example.org>"]
    assert one["subject"] == "Undelivered Mail Returned to Sender"
    assert (one["text"].strip(), one["html"]) == ("No such user.", None)
    assert one["received_for"] == ["b+1@example.org"]
    assert one["headers"]["date"] == "Mon, 30 Nov 2026 04:00:00 +0000"
    assert one["attachments"][0]["filename"] == "a.pdf"
    odd: Any = Receiving.get(put(site, "failed", body=b"{", kind="application/json"))
    assert (odd["from"], odd["to"], odd["text"]) == ("", [], "")


def test_an_attachment_is_listed_shown_and_downloaded_with_the_key(site: Served) -> None:
    mail = put(site, "failed")
    (listed,) = Receiving.Attachments.list(email_id=mail)["data"]
    shown: Any = Receiving.Attachments.get(email_id=mail, attachment_id=listed["id"])
    url = shown["download_url"]
    keys = {"Authorization": f"Bearer {site.keys.live}"}

    assert (shown["object"], shown["filename"], shown["size"]) == ("attachment", "a.pdf", 4)
    assert shown["id"] == listed["id"]
    answer = requests.get(url, headers=keys, timeout=30)
    assert (answer.status_code, answer.content) == (200, b"%PDF")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert requests.get(url, timeout=30).status_code == 401
    with pytest.raises(ResendError, match="Attachment not found"):
        Receiving.Attachments.get(email_id=mail, attachment_id=str(uuid4()))


def test_received_mail_is_of_the_project_alone_and_of_live_keys(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = put(site, "failed")
    file = Receiving.Attachments.list(email_id=mail)["data"][0]["id"]
    calls: list[Any] = [
        lambda: Receiving.get(mail),
        lambda: Receiving.Attachments.list(email_id=mail),
        lambda: Receiving.Attachments.get(email_id=mail, attachment_id=file),
    ]
    monkeypatch.setattr(resend, "api_key", site.keys.other)
    for call in calls:
        with pytest.raises(ResendError, match="Email not found"):
            call()
    assert Receiving.list()["data"] == []
    for key in (site.keys.test, site.key_with(Scope.EMAIL_SEND)):
        monkeypatch.setattr(resend, "api_key", key)
        for call in [*calls, Receiving.list]:
            with pytest.raises(ResendError, match="lacks"):
                call()


@pytest.mark.parametrize(
    ("path", "status", "named"),
    [("?limit=0", 422, "limit"), ("?after=x", 422, "after"), ("/x", 404, "not found")],
)
def test_what_is_invalid_is_named(site: Served, path: str, status: int, named: str) -> None:
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.get(f"{site.url}/emails/receiving{path}", headers=headers, timeout=30)

    assert (answer.status_code, named in answer.json()["message"]) == (status, True), answer.text
