"""Correlation ids go from an event, or an INSERT, to the mail, its log lines and its webhooks."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from mailqueue.mail.correlation import correlation_of
from mailqueue.mail.model import Ending, SendOutcome
from mailqueue.mail.send import correlated
from mailqueue.mail.send.correlated import MAX_ERROR_CHARACTERS, CorrelationLog
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.concurrency.running import account_at, session, until, until_nothing_is_queued
from tests.inbox import events
from tests.inbox.events import consume, rule
from tests.logged import log_of
from tests.mail.claims import claimed
from tests.mail.send.test_worker import courier
from tests.smtp.client.scripted import scripted
from tests.webhooks.delivering import delivering, webhook

pytestmark = pytest.mark.anyio

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
IDS = {"conversation_id": "c-81", "correlation_id": "order-81", "traceparent": TRACE}
TRACED = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}
HEADERS = {"ConversationId": "c-81", "CorrelationId": "order-81", "traceparent": TRACE.upper()}


async def test_ids_go_from_the_event_to_the_mail_its_log_and_its_webhooks(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(correlated, monkeypatch)
    async with (
        scripted() as server,
        fake([FakeReply(204)]) as receiver,
        session(database) as conn,
    ):
        await account_at(conn, server)
        await rule(conn, await events.project_with_template(conn))
        await conn.execute(
            b"DELETE FROM mailqueue.sender_accounts WHERE smtp_port <> %s", [server.port]
        )
        hook = await webhook(conn, f"http://127.0.0.1:{receiver.port}/hooks")
        done = await consume(conn, headers=HEADERS)
        by_event = done["email_ids"][0]
        by_insert = await make.scalar(
            conn,
            "INSERT INTO mailqueue.outboxes (id, to_email, subject, body, custom_data)"
            " VALUES (%s, 'bob@example.com', 's', 'b', %s) RETURNING id::text",
            uuid4(),
            Jsonb(IDS),
        )
        plain = str(await make.queued_email(conn))
        async with courier(database, tmp_path):
            await until_nothing_is_queued(conn)
        async with delivering(database):

            async def delivered() -> bool:
                query = (
                    "SELECT bool_and(status = 'delivered') AND count(*) = 6"
                    " FROM mailqueue.webhook_deliveries WHERE webhook_id = %s"
                )
                return bool(await make.scalar(conn, query, hook))

            await until(delivered)
        data = dict(
            await make.rows(conn, "SELECT id::text, custom_data FROM mailqueue.email_history")
        )

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    for email in (by_event, by_insert):
        assert data[email].items() >= IDS.items()
        mine = [line for line in lines if line["email_id"] == email]
        assert [line["event"] for line in mine] == ["email.claimed", "email.outcome"]
        assert all(line.items() >= (IDS | TRACED).items() for line in mine)
        assert mine[0]["attempt"] == 1
        assert mine[1]["outcome"] == "sent"
        mine_told = [one for one in receiver.requests if email.encode() in one.body]
        assert {one.headers.get("traceparent") for one in mine_told} == {TRACE}
        hooks = [json.loads(one.body) for one in receiver.requests]
        told = {one["type"]: one["data"] for one in hooks if one["data"]["email_id"] == email}
        assert sorted(told) == ["email.queued", "email.sent"]
        assert all(one["custom_data"].items() >= IDS.items() for one in told.values())
    assert not [line for line in lines if line["email_id"] == plain]
    others = [one for one in receiver.requests if plain.encode() in one.body]
    assert [one.headers.get("traceparent") for one in others] == [None, None]


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        (None, {}),
        ([], {}),
        ({"order": "81"}, {}),
        ({"correlation_id": 81, "conversation_id": None, "traceparent": ["x"]}, {}),
        ({"correlation_id": "a\nb", "conversation_id": "x" * 201, "traceparent": ""}, {}),
        ({"correlation_id": "annabel@example.com"}, {"correlation_id": "ann***@example.com"}),
        (IDS, IDS | TRACED),
    ],
    ids=["none", "array", "others", "types", "texts", "address", "all"],
)
def test_only_what_is_an_id_is_logged(data: Any, ids: dict[str, str]) -> None:
    assert correlation_of(data) == ids


def test_each_claim_has_one_outcome_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    written = log_of(correlated, monkeypatch)
    log = CorrelationLog()
    first, other = (claimed(custom_data=IDS) for _ in range(2))
    log.claimed([first, other, claimed()])
    log.forget(other.id, other.claim_no)
    for email in (first, first, other):
        log.answered(SendOutcome(email.id, email.claim_no, Ending.RETRY, code="451"))

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [(line["event"], line["email_id"]) for line in lines] == [
        ("email.claimed", str(first.id)),
        ("email.claimed", str(other.id)),
        ("email.outcome", str(first.id)),
    ]
    assert lines[2]["code"] == "451"


def test_a_log_that_cannot_be_written_stops_no_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    written = log_of(correlated, monkeypatch)
    written.close()
    log, email = CorrelationLog(), claimed(custom_data=IDS)

    log.claimed([email])
    log.answered(SendOutcome(email.id, email.claim_no, Ending.SENT))


def test_log_lines_have_the_masked_recipient_the_attempt_and_what_failed_without_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = log_of(correlated, monkeypatch)
    log = CorrelationLog()
    email = claimed(custom_data=IDS, attempts=3, recipient_email="annabel@example.com")

    log.claimed([email])
    reason = "mailbox <annabel@example.com> is full, ask 'postmaster@example.com'" + "." * 500
    log.answered(
        SendOutcome(email.id, email.claim_no, Ending.RETRY, reason=reason, enhanced="4.2.2")
    )

    begun, ended = map(json.loads, written.getvalue().splitlines())
    assert (begun["recipient"], begun["attempt"]) == ("ann***@example.com", 3)
    assert (ended["outcome"], ended["code"], ended["attempt"]) == ("retry", "4.2.2", 3)
    told = "mailbox <ann***@example.com> is full, ask 'pos***@example.com'"
    assert ended["error"] == told + "." * (MAX_ERROR_CHARACTERS - len(told))
