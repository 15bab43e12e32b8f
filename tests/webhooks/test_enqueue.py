"""Webhook deliveries are queued of what commits, and of nothing else."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema_rs
import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.events import store as events
from mailqueue.events.model import ReportedEvent, Type
from mailqueue.webhooks.model import EventType
from tests import make
from tests.api.support.document import DOCUMENT
from tests.stream.reading import read_stream
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio
URL = "https://app.example.com/hooks"
DOCS = Path(__file__).parents[2] / "docs" / "webhooks.md"


async def heard(conn: Conn) -> list[tuple[str, dict[str, Any]]]:
    """Return (type, data) of the deliveries, in order."""
    await read_stream(conn)
    found = await make.rows(
        conn, "SELECT type, payload FROM mailqueue.webhook_events ORDER BY created_at, id"
    )
    return [(row[0], row[1]["data"]) for row in found]


async def settled(conn: Conn, email_id: UUID, claim: int, outcome: str, **said: Any) -> None:
    log = said.get("log", "sent")
    await conn.execute(
        "SELECT mailqueue.settle_emails(ARRAY[%s::uuid], ARRAY[%s::bigint], ARRAY[%s],"
        " ARRAY[%s::text], ARRAY[NULL::interval], ARRAY[1], ARRAY[NULL::integer], ARRAY[%s],"
        " ARRAY['<m@example.com>'], ARRAY['p-1'], ARRAY[%s::text],"
        " ARRAY[%s::text], ARRAY[%s::text], ARRAY[5], ARRAY[false])",
        (
            email_id,
            claim,
            outcome,
            said.get("reason"),
            log,
            "450",
            "4.2.1",
            said.get("reply", "ok"),
        ),
    )


async def claimed(conn: Conn, **columns: Any) -> tuple[UUID, int]:
    await make.sender_account(conn, name="relay")
    email_id = await make.queued_email(conn, **columns)
    ((found, claim),) = await make.claimed(conn, await make.worker(conn))
    assert found == email_id
    return email_id, claim


async def test_a_mail_is_told_from_queue_to_sent(conn: Conn) -> None:
    hook = await webhook(conn, URL)

    email_id, claim = await claimed(conn, tags=["a", "b"], campaign_id="spring")
    await settled(conn, email_id, claim, "sent")

    (queued, first), (sent, second) = await heard(conn)
    assert (queued, sent) == ("email.queued", "email.sent")
    assert first["email_id"] == second["email_id"] == str(email_id)
    assert first["event_id"] != second["event_id"]
    for data in (first, second):
        assert (data["recipient"], data["tags"]) == ("ann@example.com", ["a", "b"])
        assert (data["campaign_id"], data["category"]) == ("spring", "transactional")
        assert data["project"] == "default"
    assert (second["sender"], second["provider_message_id"]) == ("relay", "p-1")
    assert second["message_id"] == "<m@example.com>"
    rows = await make.rows(
        conn, "SELECT webhook_id, status, attempts FROM mailqueue.webhook_deliveries"
    )
    assert rows == [(hook, "pending", 0)] * 2


async def test_a_mail_put_off_is_told_with_the_words_of_the_server(conn: Conn) -> None:
    await webhook(conn, URL, event_types=["email.deferred"])
    email_id, claim = await claimed(conn)

    await settled(conn, email_id, claim, "retry", log="deferred", reply="busy")

    ((kind, put_off),) = await heard(conn)
    assert (kind, put_off["reason"], put_off["code"]) == ("email.deferred", "busy", "4.2.1")


async def test_a_mail_that_failed_is_told_with_the_reason(conn: Conn) -> None:
    await webhook(conn, URL, event_types=["email.failed"])
    email_id, claim = await claimed(conn)

    await settled(conn, email_id, claim, "failed", log="rejected", reason="no such user")

    ((kind, failed),) = await heard(conn)
    assert (kind, failed["reason"], failed["sender"]) == ("email.failed", "no such user", "relay")


async def test_what_did_not_commit_was_never_told(conn: Conn) -> None:
    """OneCommit: the consequences of an event commit with it, or not at all."""
    await webhook(conn, URL)
    async with conn.transaction(force_rollback=True):
        await told(conn, 3)
        assert len(await heard(conn)) == 3

    assert await heard(conn) == []
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.webhook_deliveries") == 0


async def test_a_batch_tells_each_of_its_mails_once(conn: Conn) -> None:
    await webhook(conn, URL)
    await make.sender_account(conn)
    messages = [{"recipient": f"p{n}@example.com", "subject": "Hi", "text": "Hi"} for n in range(5)]
    await conn.execute("SELECT * FROM mailqueue.enqueue_batch('default', %s)", (Jsonb(messages),))

    found = await heard(conn)
    assert [kind for kind, _ in found] == ["email.queued"] * 5
    assert {data["recipient"] for _, data in found} == {f"p{n}@example.com" for n in range(5)}


async def test_suppressed_mail_is_told_as_suppressed_and_not_as_queued(conn: Conn) -> None:
    await webhook(conn, URL)
    project = await make.project_named(conn)
    await conn.execute(
        "SELECT mailqueue.suppress(%s, 'ann@example.com', '', 'manual', NULL)", (project,)
    )

    await make.queued_email(conn)
    await conn.execute(
        "SELECT * FROM mailqueue.enqueue_batch('default', %s)",
        (Jsonb([{"recipient": "ann@example.com", "subject": "Hi", "text": "Hi"}]),),
    )

    assert [kind for kind, _ in await heard(conn)] == ["email.suppressed"] * 2


async def test_every_webhook_hears_what_it_wants_and_the_event_is_stored_once(conn: Conn) -> None:
    everything = await webhook(conn, URL)
    bounces = await webhook(conn, URL, event_types=["email.hard_bounce", "email.complaint"])
    await told(conn, 2, kind="delivered")
    await told(conn, 1, kind="hard_bounce")

    found = await make.rows(
        conn, "SELECT webhook_id, type, count(*) FROM mailqueue.webhook_deliveries GROUP BY 1, 2"
    )
    assert sorted(found, key=str) == sorted(
        [
            (everything, "email.delivered", 2),
            (everything, "email.hard_bounce", 1),
            (bounces, "email.hard_bounce", 1),
        ],
        key=str,
    )
    assert len(await heard(conn)) == 3


async def test_webhooks_get_no_events_of_other_projects_or_while_disabled_or_removed(
    conn: Conn,
) -> None:
    shop = await make.project(conn, "shop")
    await webhook(conn, URL, project_id=shop)
    off, gone = await webhook(conn, URL), await webhook(conn, URL)
    project = await make.project_named(conn)
    await conn.execute("SELECT mailqueue.switch_webhook(%s, %s, false, 'me')", (project, off))
    await conn.execute("SELECT mailqueue.remove_webhook(%s, %s, 'me')", (project, gone))

    await told(conn)
    await make.sender_account(conn)
    await make.queued_email(conn)

    assert await heard(conn) == []


async def test_what_comes_back_from_the_archive_is_not_told_again(conn: Conn) -> None:
    await webhook(conn, URL)
    await conn.execute("SELECT set_config('mailqueue.untold', 'on', true)")
    await told(conn)

    assert await heard(conn) == []


async def test_a_recorded_event_is_told_with_what_its_source_said_and_the_mail_itself(
    conn: Conn,
) -> None:
    email_id, claim = await claimed(conn, campaign_id="spring")
    await settled(conn, email_id, claim, "sent")
    await webhook(conn, URL)

    await events.record_events(
        conn,
        [
            ReportedEvent(
                "tracking",
                Type.CLICKED,
                email_id=email_id,
                recipient="ann@example.com",
                data={"url": "https://example.com/a", "ip": "192.0.2.0", "is_machine": False},
            )
        ],
    )

    ((kind, data),) = await heard(conn)
    assert kind == "email.clicked"
    assert (data["url"], data["ip"], data["is_machine"]) == (
        "https://example.com/a",
        "192.0.2.0",
        False,
    )
    assert (data["source"], data["campaign_id"], data["sender"]) == ("tracking", "spring", "relay")
    recorded = await make.scalar(
        conn, "SELECT id FROM mailqueue.email_events WHERE type = 'clicked'"
    )
    assert data["event_id"] == str(recorded), "the timeline of the mail has it under the same id"


async def test_every_type_of_event_has_a_type_of_webhook(conn: Conn) -> None:
    rule = await make.scalar(
        conn,
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conname = 'email_events_type_check'"
        " AND conrelid = 'mailqueue.email_events'::regclass",
    )
    words = {word for word in rule.split("'") if word.isidentifier() and word not in ("text",)}
    types = {f"email.{word}" for word in words - {"CHECK", "type", "ARRAY", "ANY"}}

    assert types == {*EventType} - {EventType.NOTICE}


def schema() -> Any:
    """Return the JSON Schema of the page."""
    text = DOCS.read_text("utf-8").split("```jsonschema\n")[1].split("```")[0]
    return json.loads(text)


async def test_payloads_are_as_documented(conn: Conn) -> None:
    check = jsonschema_rs.Draft202012Validator(schema(), validate_formats=True)
    ref = {"$ref": "#/components/schemas/WebhookPayload"}
    check_openapi = jsonschema_rs.Draft202012Validator(
        ref | {"components": DOCUMENT["components"]}, validate_formats=True
    )
    await webhook(conn, URL)
    email_id, claim = await claimed(conn, tags=["a"])
    await settled(conn, email_id, claim, "retry", log="deferred", reply="busy")
    for kind in ("delivered", "hard_bounce", "held", "opened"):
        await told(conn, kind=kind)

    await read_stream(conn)
    found = await make.rows(conn, "SELECT payload::text FROM mailqueue.webhook_events")

    assert len(found) == 6
    for (text,) in found:
        check.validate(json.loads(text))
        check_openapi.validate(json.loads(text))
        assert datetime.fromisoformat(json.loads(text)["timestamp"]).tzinfo is not None
    with pytest.raises(jsonschema_rs.ValidationError):
        check.validate({"type": "email.sent", "data": {}})
    with pytest.raises(jsonschema_rs.ValidationError):
        check_openapi.validate({"type": "email.sent", "timestamp": "2030-01-01T00:00:00Z"})


async def test_every_event_carries_tags_and_custom_data_of_its_mail(conn: Conn) -> None:
    await webhook(conn, URL)
    mine = {"tags": ["a", "b"], "custom_data": {"order": 81, "in": [None, {"x": 1e300}]}}
    first, claim = await claimed(conn, **mine)
    await settled(conn, first, claim, "retry", log="deferred", reply="busy")
    await told(conn, email_id=first, kind="held")
    second = await make.queued_email(conn, **mine)
    ((found, claim),) = await make.claimed(conn, await make.worker(conn))
    assert found == second
    await settled(conn, second, claim, "sent")
    await told(conn, email_id=second, kind="delivered")
    await told(conn, kind="opened")

    *of_mail, (_, bare) = await heard(conn)

    kinds = ["queued", "deferred", "held", "queued", "sent", "delivered"]
    assert [kind for kind, _ in of_mail] == [f"email.{kind}" for kind in kinds]
    for kind, data in of_mail:
        assert {name: data[name] for name in mine} == mine, kind
    assert (bare["tags"], bare["custom_data"]) == ([], {})
