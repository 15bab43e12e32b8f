"""A dry run returns the complete result of a mail and stores nothing."""

from base64 import b64encode
from email import message_from_string
from typing import Any

import pytest

from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of

pytestmark = pytest.mark.anyio
PDF = b"%PDF-1.7 octets"
TABLES = (
    "email_queue",
    "email_history",
    "email_contents",
    "lane_signals",
    "attachments",
    "idempotency_keys",
    "email_recipients",
)
GONE = "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES ('bob@example.com', 'hard')"


async def left(api: Calling) -> list[int]:
    async with connect(api.database) as conn:
        return [
            await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}") for table in TABLES
        ]


async def tried(api: Calling, **changes: Any) -> Any:
    answer = await api.send({**HELLO, "dry_run": True, **changes}, Idempotency_Key="k")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_route_limits_recipients_and_message_are_shown_and_nothing_stays(
    api: Calling,
) -> None:
    file = {"filename": "a.pdf", "content_type": "application/pdf"}
    found = await tried(
        api,
        cc=["bob@example.com"],
        html_body="<p>Hello</p>",
        attachments=[{**file, "content": b64encode(PDF).decode()}],
    )

    assert (found["status"], found["reason"]) == ("queued", None)
    assert [one["address"] for one in found["recipients"]] == ["ann@example.com", "bob@example.com"]
    assert [one["name"] for one in found["route"]["senders"]] == ["relay"]
    assert found["limit"]["headroom"] > 0
    message = message_from_string(found["mime"])
    assert message["Subject"] == "Hello"
    assert [part.get_payload(decode=True) for part in message.walk() if part.get_filename()] == [
        PDF
    ]
    assert found["size"] == len(found["mime"])
    assert await left(api) == [0] * len(TABLES)


async def test_who_is_not_written_to_is_named_with_the_reason(api: Calling) -> None:
    async with connect(api.database) as conn:
        await conn.execute(GONE)

    found = await tried(api, to=["bob@example.com"])
    several = await tried(api, cc=["bob@example.com"])

    assert found["status"] == "suppressed"
    assert found["recipients"][0]["status"] == "suppressed"
    assert [one["status"] for one in several["recipients"]] == ["pending", "suppressed"]
    assert several["status"] == "queued"


async def test_what_may_not_be_meant_is_warned_of(api: Calling) -> None:
    found = await tried(
        api,
        to=["ann@example.com", "bob@example.com"],
        text_body=None,
        html_body="<p>News</p>",
        category="marketing",
    )

    text, unsubscribe, several = found["warnings"]
    assert "without HTML" in text
    assert "List-Unsubscribe" in unsubscribe
    assert "each other's addresses" in several


async def test_what_would_be_refused_is_refused(api: Calling) -> None:
    refused = await api.send({**HELLO, "dry_run": True, "to": ["nobody"]})
    odd = await api.send({**HELLO, "dry_run": True, "smtp_override": {"host": "a.example.com"}})

    assert (refused.status_code, error_of(refused)["field"]) == (422, "to")
    assert (odd.status_code, error_of(odd)["field"]) == (422, "dry_run")
