"""The published library postmarker lists, counts and activates bounces."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from mailqueue.webhooks.formats.values import number_of
from tests.clients.serving import Served
from tests.clients.suppressing import clear, put, stored

REPLY = "550 5.1.1 no such mailbox"


def sent(site: Served, to: str, *, key: str | None = None) -> str:
    answer = requests.post(
        f"{site.url}/email",
        json={
            "From": "sender@example.com",
            "To": to,
            "Subject": "Your order",
            "TextBody": "Hi",
            "Tag": "order",
        },
        headers={"X-Postmark-Server-Token": key or site.keys.live},
        timeout=60,
    )
    assert answer.json()["ErrorCode"] == 0, answer.text
    return str(answer.json()["MessageID"])


def bounce(site: Served, email_id: str, to: str, kind: str) -> int:
    """Have a mail bounce, as a provider reports it; return the number that webhooks name."""
    event = {
        "type": kind,
        "email_id": email_id,
        "recipient": to,
        "source": "ses",
        "event_id": uuid4().hex,
        "code": "5.1.1",
        "detail": REPLY,
    }
    found = site.rows("SELECT result FROM mailqueue.record_events(%s::jsonb)", json.dumps([event]))
    assert found == [("recorded",)]
    ((made,),) = site.rows(
        "SELECT id FROM mailqueue.email_events WHERE email_id = %s AND type = %s", email_id, kind
    )
    assert isinstance(made, UUID)
    return number_of(made)


@pytest.fixture(autouse=True)
def empty(site: Served) -> None:
    clear(site)
    site.rows("DELETE FROM mailqueue.email_events RETURNING 1")
    site.rows("DELETE FROM mailqueue.bounce_list RETURNING 1")


@pytest.fixture
def bounced(site: Served) -> dict[str, int]:
    """Return the numbers of one bounce of each type, by address, the oldest first."""
    return {
        to: bounce(site, sent(site, to), to, kind)
        for to, kind in (
            ("hard@example.org", "hard_bounce"),
            ("soft@example.org", "soft_bounce"),
            ("angry@example.org", "complaint"),
        )
    }


def test_bounces_are_listed_newest_first_with_what_their_mail_has(
    postmark: PostmarkClient, bounced: dict[str, int]
) -> None:
    found = postmark.bounces.all()

    assert [(one.Email, one.ID) for one in found] == list(reversed(bounced.items()))
    assert [(one.Type, one.TypeCode, one.Inactive, one.CanActivate) for one in found] == [
        ("SpamComplaint", 100001, True, False),
        ("SoftBounce", 4096, False, False),
        ("HardBounce", 1, True, True),
    ]
    hard = found[-1]
    assert (hard.Subject, hard.From, hard.Tag) == ("Your order", "sender@example.com", "order")
    assert (hard.Details, hard.MessageStream) == (REPLY, "outbound")
    assert hard.message.MessageID == hard.MessageID


def test_bounces_are_filtered_and_paged(
    site: Served, postmark: PostmarkClient, bounced: dict[str, int]
) -> None:
    def listed(**filters: Any) -> list[str]:
        return [one.Email for one in postmark.bounces.all(**filters)]

    message = postmark.bounces.get(bounced["soft@example.org"]).MessageID
    assert listed(type="HardBounce") == ["hard@example.org"]
    assert listed(emailFilter="Angry@") == ["angry@example.org"]
    assert listed(messageID=message) == ["soft@example.org"]
    assert postmark.bounces.tags == ["order"]
    assert (len(listed(tag="order")), listed(tag="news")) == (3, [])
    assert listed(todate="2001-01-01") == []
    assert len(listed(fromdate="2001-01-01")) == 3
    page = requests.get(
        f"{site.url}/bounces?count=1&offset=1",
        headers={"X-Postmark-Server-Token": site.keys.live},
        timeout=60,
    ).json()
    assert page["TotalCount"] == 3
    assert [one["Email"] for one in page["Bounces"]] == ["soft@example.org"]


def test_the_id_that_a_webhook_names_shows_the_bounce(
    postmark: PostmarkClient, bounced: dict[str, int]
) -> None:
    for address, number in bounced.items():
        shown = postmark.bounces.get(number)
        assert (shown.ID, shown.Email) == (number, address)


def test_an_activated_address_is_sent_to_again(
    site: Served, postmark: PostmarkClient, bounced: dict[str, int]
) -> None:
    one = postmark.bounces.get(bounced["hard@example.org"])

    assert one.activate() == "OK"
    assert (one.Inactive, one.CanActivate) == (False, False)
    assert ("hard@example.org", "hard_bounce", "") not in stored(site)
    assert site.email(sent(site, "hard@example.org"))["status"] == "pending"


def test_the_dump_of_a_bounce_is_the_mail_that_reported_it_or_what_the_server_said(
    site: Served, postmark: PostmarkClient, bounced: dict[str, int]
) -> None:
    number = bounced["hard@example.org"]
    one = postmark.bounces.get(number)
    assert (one.DumpAvailable, one.dump) == (False, "")

    said = {"protocol": "smtp", "lines": [{"ms": 1, "by": "server", "text": REPLY}]}
    site.rows(
        "INSERT INTO mailqueue.send_logs (project_id, email_id, recipient_email, attempt,"
        " status, conversation)"
        " SELECT v.project_id, v.email_id, v.recipient_email, 1, 'failed', %s"
        " FROM mailqueue.email_events AS v WHERE v.recipient_email = 'hard@example.org'"
        " RETURNING 1",
        json.dumps(said),
    )
    assert postmark.bounces.get(number).dump == "", "a provider reported it, no server's reply"
    site.rows("UPDATE mailqueue.email_events SET source = NULL RETURNING 1")
    one = postmark.bounces.get(number)
    assert (one.DumpAvailable, one.dump) == (True, f"server: {REPLY}")

    ((request,),) = site.rows(
        "INSERT INTO mailqueue.inbound_events (provider, body) VALUES ('smtp', %s) RETURNING id",
        b"Subject: Undelivered\r\n\r\nNo.",
    )
    site.rows(
        "UPDATE mailqueue.email_events SET data = jsonb_build_object('request', %s::text)"
        " RETURNING 1",
        request,
    )
    assert postmark.bounces.get(number).dump == "Subject: Undelivered\r\n\r\nNo."
    site.rows("DELETE FROM mailqueue.inbound_events RETURNING 1")
    of_other_project = PostmarkClient(server_token=site.keys.other, root_api_url=site.url)
    with pytest.raises(ClientError) as caught:
        of_other_project.bounces.get_dump(number)
    assert int(caught.value.error_code) == 407


def test_a_complaint_is_not_activated(
    site: Served, postmark: PostmarkClient, bounced: dict[str, int]
) -> None:
    with pytest.raises(ClientError, match="cannot be activated"):
        postmark.bounces.activate(bounced["angry@example.org"])

    assert ("angry@example.org", "complaint", "") in stored(site)


def test_statistics_count_bounces_by_type_and_inactive_addresses(
    site: Served, postmark: PostmarkClient, bounced: dict[str, int]
) -> None:
    put(site, "manual@example.org", "manual")

    assert postmark.bounces.deliverystats == {
        "InactiveMails": 3,
        "Bounces": [
            {"Name": "All", "Count": 3},
            {"Type": "HardBounce", "Name": "Hard bounce", "Count": 1},
            {"Type": "SoftBounce", "Name": "Soft bounce", "Count": 1},
            {"Type": "SpamComplaint", "Name": "Spam complaint", "Count": 1},
        ],
    }


def test_a_key_sees_the_bounces_of_its_project_and_mode_alone(
    site: Served, bounced: dict[str, int]
) -> None:
    for key in (site.keys.other, site.keys.test):
        other = PostmarkClient(server_token=key, root_api_url=site.url)
        assert other.bounces.all() == other.bounces.tags == []
        with pytest.raises(ClientError, match="not found"):
            other.bounces.get(bounced["hard@example.org"])
    tested = sent(site, "tested@example.org", key=site.keys.test)
    number = bounce(site, tested, "tested@example.org", "hard_bounce")
    test = PostmarkClient(server_token=site.keys.test, root_api_url=site.url)
    assert [one.ID for one in test.bounces.all()] == [number]


def test_activating_needs_the_scope_of_suppressions(site: Served, bounced: dict[str, int]) -> None:
    reads = PostmarkClient(server_token=site.keys.reads, root_api_url=site.url)

    one = reads.bounces.get(bounced["hard@example.org"])
    with pytest.raises(ClientError, match="suppression:manage"):
        one.activate()
    assert ("hard@example.org", "hard_bounce", "") in stored(site)


@pytest.mark.parametrize("number", ["0", "x", "9" * 16, "9" * 40])
def test_another_number_is_no_bounce(postmark: PostmarkClient, number: str) -> None:
    with pytest.raises(ClientError) as caught:
        postmark.bounces.get(number)

    assert caught.value.error_code == 407


def test_filters_that_are_not_there_are_refused_by_name(
    postmark: PostmarkClient, bounced: dict[str, int]
) -> None:
    with pytest.raises(ClientError, match="'inactive'"):
        postmark.bounces.all(inactive=True)
