"""Postmark's documented requests read and change the suppressions of a message stream."""

from typing import Any

import pytest
import requests

from tests.clients.serving import Served
from tests.clients.suppressing import fill, put, stored


@pytest.fixture(autouse=True)
def filled(site: Served) -> None:
    fill(site)


def ask(site: Served, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
    return requests.request(
        method,
        f"{site.url}/message-streams/{path}",
        json=body,
        headers={
            "Accept": "application/json",
            "X-Postmark-Server-Token": key or site.keys.live,
        },
        timeout=60,
    )


def dumped(site: Served, stream: str = "outbound", query: str = "") -> list[str]:
    answer = ask(site, "GET", f"{stream}/suppressions/dump{query}")
    assert answer.status_code == 200, answer.text
    return [one["EmailAddress"] for one in answer.json()["Suppressions"]]


def entries(*addresses: str) -> Any:
    return {"Suppressions": [{"EmailAddress": one} for one in addresses]}


EVERYWHERE = ["angry@example.org", "often@example.org", "hard@example.org"]


def test_a_stream_lists_the_addresses_that_its_category_is_not_sent_to(site: Served) -> None:
    assert dumped(site) == ["manual@example.org", *EVERYWHERE]
    assert dumped(site, "broadcast") == [
        "manual@example.org",
        "all@example.org",
        "left@example.org",
        *EVERYWHERE,
    ]
    assert dumped(site, "asm-7") == ["asm@example.org", "manual@example.org", *EVERYWHERE]


def test_each_address_has_reason_and_origin(site: Served) -> None:
    found = ask(site, "GET", "broadcast/suppressions/dump").json()["Suppressions"]

    assert {one["EmailAddress"]: (one["SuppressionReason"], one["Origin"]) for one in found} == {
        "manual@example.org": ("ManualSuppression", "Customer"),
        "all@example.org": ("ManualSuppression", "Recipient"),
        "left@example.org": ("ManualSuppression", "Recipient"),
        "angry@example.org": ("SpamComplaint", "Recipient"),
        "often@example.org": ("HardBounce", "Recipient"),
        "hard@example.org": ("HardBounce", "Recipient"),
    }


def test_a_dump_is_filtered(site: Served) -> None:
    assert dumped(site, query="?SuppressionReason=SpamComplaint") == ["angry@example.org"]
    assert dumped(site, query="?Origin=Customer") == ["manual@example.org"]
    assert dumped(site, query="?SuppressionReason=HardBounce&Origin=Customer") == []
    assert dumped(site, query="?EmailAddress=Hard@example.org") == ["hard@example.org"]
    assert dumped(site, query="?fromdate=2001-01-01&todate=2001-12-31") == []
    assert dumped(site, query="?fromdate=2001-01-01") == dumped(site)


def test_days_are_those_of_eastern_time(site: Served) -> None:
    site.rows(
        "UPDATE mailqueue.suppressions SET created_at = '2026-03-11 03:30:00+00'"
        " WHERE address = 'hard@example.org' RETURNING 1"
    )

    assert dumped(site, query="?fromdate=2026-03-10&todate=2026-03-10") == ["hard@example.org"]
    assert dumped(site, query="?fromdate=2026-03-11&todate=2026-03-11") == []


def test_a_dump_is_complete(site: Served) -> None:
    site.rows(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason)"
        " SELECT id, 'p' || n || '@many.example', 'manual'"
        " FROM mailqueue.projects, generate_series(1, 1000) AS n WHERE name = 'default' RETURNING 1"
    )

    found = dumped(site, query="?count=100&offset=0")

    assert len(found) == len(set(found)) == 1004


def test_addresses_are_suppressed_for_the_stream_alone(site: Served) -> None:
    answer = ask(site, "POST", "broadcast/suppressions", entries("good@example.org", "not-one"))

    assert answer.json() == {
        "Suppressions": [
            {"EmailAddress": "good@example.org", "Status": "Suppressed", "Message": None},
            {
                "EmailAddress": "not-one",
                "Status": "Failed",
                "Message": "An invalid email address was provided.",
            },
        ]
    }
    assert ("good@example.org", "manual", "marketing") in stored(site)
    assert "good@example.org" in dumped(site, "broadcast")
    assert "good@example.org" not in dumped(site)


def test_a_suppressed_address_receives_no_mail_of_the_stream(site: Served) -> None:
    ask(site, "POST", "outbound/suppressions", entries("good@example.org"))

    sent = requests.post(
        f"{site.url}/email",
        json={
            "From": "sender@example.com",
            "To": "good@example.org",
            "Subject": "Hi",
            "TextBody": "Hi",
        },
        headers={"X-Postmark-Server-Token": site.keys.live},
        timeout=60,
    )

    assert sent.json()["ErrorCode"] == 406


def test_addresses_are_sent_to_again_but_not_those_that_complained(site: Served) -> None:
    put(site, "hard@example.org", "manual", category="transactional")

    answer = ask(
        site,
        "POST",
        "outbound/suppressions/delete",
        entries("hard@example.org", "angry@example.org", "unknown@example.org"),
    )

    assert [(one["Status"], one["Message"] is None) for one in answer.json()["Suppressions"]] == [
        ("Deleted", True),
        ("Failed", False),
        ("Deleted", True),
    ]
    assert dumped(site) == ["manual@example.org", "angry@example.org", "often@example.org"]


def test_what_is_invalid_is_refused_with_a_code(site: Served) -> None:
    nothing = ask(site, "POST", "outbound/suppressions", entries())
    many = ask(site, "POST", "outbound/suppressions", entries(*["a@example.org"] * 51))
    stream = ask(site, "GET", "No Stream/suppressions/dump")
    query = ask(site, "GET", "outbound/suppressions/dump?SuppressionReason=Other")
    unknown = ask(site, "GET", "outbound/archive")

    assert (nothing.status_code, many.status_code) == (422, 422)
    assert (stream.status_code, stream.json()["ErrorCode"]) == (422, 1235)
    assert (query.status_code, query.json()["ErrorCode"]) == (422, 300)
    assert "'SuppressionReason'" in query.json()["Message"]
    assert (unknown.status_code, unknown.json()["ErrorCode"]) == (404, 404)


def test_a_key_sees_and_changes_its_project_alone(site: Served) -> None:
    other = ask(site, "GET", "outbound/suppressions/dump", key=site.keys.other).json()
    ask(
        site,
        "POST",
        "outbound/suppressions/delete",
        entries("hard@example.org"),
        key=site.keys.other,
    )

    assert [one["EmailAddress"] for one in other["Suppressions"]] == ["foreign@example.org"]
    assert "hard@example.org" in dumped(site)


def test_a_key_without_the_scope_is_refused(site: Served) -> None:
    answer = ask(site, "GET", "outbound/suppressions/dump", key=site.keys.reads)

    assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 405)
    assert "suppression:manage" in answer.json()["Message"]
