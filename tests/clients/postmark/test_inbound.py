"""The published library postmarker reads bounce mail, and has it processed again."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from mailqueue.inbound.bounces.events import IGNORED
from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.serving import Served

RAW = b"""From: Mail System <MAILER-DAEMON@mx.example.com>
To: shop@example.org, =?utf-8?q?J=C3=BCrgen?= <j@example.org>
Subject: Undelivered Mail Returned to Sender
Date: Mon, 30 Nov 2026 04:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain

No such user.
--b
Content-Type: application/pdf; name="a.pdf"
Content-Disposition: attachment; filename="a.pdf"

%PDF
--b--
"""


def put(
    site: Served,
    status: str,
    *,
    project: str = "default",
    outcome: dict[str, Any] | None = None,
    body: bytes = RAW,
    kind: str = "message/rfc822",
) -> str:
    """Store bounce mail in a state of the queue; return its id."""
    ((made,),) = site.rows(
        "INSERT INTO mailqueue.inbound_events (project_id, provider, body, status, outcome,"
        " finished_at, headers, query, waiting, attempts)"
        " SELECT id, 'smtp', %s, %s, %s, CASE WHEN %s <> 'pending' THEN now() END,"
        " jsonb_build_object('content-type', %s::text), '{\"recipient\": \"b+1@example.org\"}',"
        " '{}', 3 FROM mailqueue.projects WHERE name = %s RETURNING id",
        body,
        status,
        json.dumps(outcome or {}),
        status,
        kind,
        project,
    )
    assert isinstance(made, UUID)
    return str(made)


def state(site: Served, message: str) -> tuple[Any, ...]:
    query = "SELECT status, outcome, waiting, attempts FROM mailqueue.inbound_events WHERE id = %s"
    (found,) = site.rows(query, message)
    return found


def refused(work: Any, *given: Any) -> int:
    with pytest.raises(ClientError) as caught:
        work(*given)
    return int(caught.value.error_code)


@pytest.fixture(autouse=True)
def without_mail(site: Served) -> Iterator[None]:
    site.rows("DELETE FROM mailqueue.inbound_events RETURNING 1")
    yield
    site.rows("DELETE FROM mailqueue.inbound_events RETURNING 1")


def test_messages_are_listed_newest_first_with_their_states(
    site: Served, postmark: PostmarkClient
) -> None:
    blocked = {"events": {}, "unknown": [IGNORED]}
    made = {
        "Failed": put(site, "failed"),
        "Blocked": put(site, "processed", outcome=blocked),
        "Processed": put(site, "processed", outcome={"events": {"recorded": 1}}),
        "Scheduled": put(site, "pending"),
    }
    put(site, "processed", project="other")

    found = postmark.messages.inbound.all()
    assert [(one.Status, one.MessageID) for one in found] == list(reversed(made.items()))
    assert [one.MessageID for one in postmark.messages.inbound.all(status="blocked")] == [
        made["Blocked"]
    ]
    assert postmark.messages.inbound.all(todate="2001-01-01") == []
    assert len(postmark.messages.inbound.all(fromdate="2001-01-01")) == 4
    page = requests.get(
        f"{site.url}/messages/inbound?count=1&offset=2",
        headers={"X-Postmark-Server-Token": site.keys.live},
        timeout=60,
    ).json()
    assert page["TotalCount"] == 4
    assert [one["MessageID"] for one in page["InboundMessages"]] == [made["Blocked"]]


def test_a_message_is_shown_with_what_it_says(site: Served, postmark: PostmarkClient) -> None:
    document = json.dumps({"raw": RAW.decode(), "recipient": "b+2@example.org"}).encode()
    for message, recipient in (
        (put(site, "failed"), "b+1@example.org"),
        (put(site, "failed", body=document, kind="application/json"), "b+2@example.org"),
    ):
        one = postmark.messages.inbound.get(message)
        assert (one.From, one.FromName) == ("MAILER-DAEMON@mx.example.com", "Mail System")
        assert [(box["Email"], box["Name"]) for box in one.ToFull] == [
            ("shop@example.org", ""),
            ("j@example.org", "J\u00fcrgen"),
        ]
        assert one.Subject == "Undelivered Mail Returned to Sender"
        assert (one.TextBody.strip(), one.HtmlBody) == ("No such user.", "")
        assert (one.OriginalRecipient, one["Date"]) == (
            recipient,
            "Mon, 30 Nov 2026 04:00:00 +0000",
        )
        (file,) = one.Attachments
        assert (file.Name, file.ContentType, len(file)) == ("a.pdf", "application/pdf", 4)
    odd = postmark.messages.inbound.get(put(site, "failed", body=b"{", kind="application/json"))
    assert (odd.From, odd.TextBody, odd.Status) == ("", "", "Failed")


def test_blocked_mail_is_bypassed_and_failed_mail_retried(
    site: Served, postmark: PostmarkClient
) -> None:
    inbound = postmark.messages.inbound
    blocked = put(site, "processed", outcome={"events": {}, "unknown": [IGNORED]})
    failed = put(site, "failed", outcome={"events": {"recorded": 1}})
    assert inbound.get(blocked).BlockedReason

    assert (refused(inbound.retry, blocked), refused(inbound.bypass, failed)) == (703, 702)
    assert inbound.get(blocked).bypass()["ErrorCode"] == 0
    assert inbound.get(failed).retry()["ErrorCode"] == 0

    assert state(site, blocked) == ("pending", {"bypassed": True}, None, 0)
    assert state(site, failed) == ("pending", {"events": {"recorded": 1}}, [], 0)
    assert (refused(inbound.bypass, blocked), refused(inbound.retry, failed)) == (702, 703)
    actions = site.rows(
        "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'inbound.%%' ORDER BY id"
    )
    assert actions[-2:] == [("inbound.bypassed",), ("inbound.retried",)]


def test_messages_are_of_the_project_alone_and_of_live_tokens(site: Served) -> None:
    message = put(site, "failed")
    for key, code in ((site.keys.other, 701), (site.keys.test, 405)):
        inbound = PostmarkClient(server_token=key, root_api_url=site.url).messages.inbound
        for work in (inbound.get, inbound.bypass, inbound.retry):
            assert refused(work, message) == code
    of_other_project = PostmarkClient(server_token=site.keys.other, root_api_url=site.url)
    assert of_other_project.messages.inbound.all() == []
    assert refused(of_other_project.messages.inbound.get, uuid4()) == 701
    assert refused(of_other_project.messages.inbound.get, "x") == 701
    reads = key_with(site, Scope.EMAIL_READ)
    inbound = PostmarkClient(server_token=reads, root_api_url=site.url).messages.inbound
    assert inbound.get(message).MessageID == message
    assert refused(inbound.retry, message) == 405
    assert state(site, message)[0] == "failed"
