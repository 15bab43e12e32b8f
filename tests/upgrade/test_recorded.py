"""The statements of the previous release work with the current schema."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.sql import read_statements
from tests import make
from tests.mail.claim.steps import difference
from tests.upgrade.answers import ANSWERS, RECORDED, Answer, answers

pytestmark = pytest.mark.anyio
STATEMENTS = read_statements(RECORDED)
NONE_YET: dict[str, str] = dict.fromkeys(("open_ids", "open_claims"), "{}")
# One of each array that settling takes, as a worker of that release fills them.
SENT = {
    "outcomes": "sent", "reasons": None, "waits": None, "spent": 1, "left": None, "logs": "sent",
    "message_ids": "<a@example.com>", "provider_ids": None, "codes": "250", "enhanced": "2.0.0",
    "replies": "250 ok", "ms": 5, "hard": False,
}  # fmt: skip


def recorded() -> dict[str, Answer]:
    document = json.loads(ANSWERS.read_text("utf-8"))
    return {
        name: Answer(tuple(each["takes"]), tuple((n, t) for n, t in each["gives"]))
        for name, each in document.items()
    }


async def said(conn: Conn, name: str, **params: Any) -> list[dict[str, Any]]:
    """Run a recorded statement; return its rows by column."""
    cursor = await conn.execute(STATEMENTS[name].query, params)
    if cursor.description is None:
        return []
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in await cursor.fetchall()]


async def worker(conn: Conn) -> int:
    about = {"kind": "send", "host": "old", "pid": 1, "version": "0.1.0", "launch_id": uuid4()}
    [started] = await said(conn, "start_worker", **about)
    return int(next(iter(started.values())))


async def claimed(conn: Conn, worker: int) -> list[dict[str, Any]]:
    await said(conn, "gather_lanes")
    return await said(conn, "claim_emails", worker=worker, limit=10, lease="15 min")


async def written(
    conn: Conn, worker: int, *, new: list[dict[str, Any]], settled: list[dict[str, Any]]
) -> dict[UUID, str]:
    """Mark some mails and settle others as sent; return the result of each."""
    many = {name: [value] * len(settled) for name, value in SENT.items()}
    rows = await said(
        conn,
        "write_down",
        worker=worker,
        new_ids=[each["id"] for each in new],
        new_claims=[each["claim_no"] for each in new],
        ids=[each["id"] for each in settled],
        claims=[each["claim_no"] for each in settled],
        **NONE_YET,
        **many,
    )
    return {row["id"]: row["verdict"] for row in rows}


def test_every_statement_takes_and_gives_what_it_did(shared_db: str) -> None:
    was, now = recorded(), answers(shared_db, STATEMENTS.values())

    assert {name: now[name] for name in was} == was


async def test_a_worker_of_the_release_before_claims_sends_and_leaves(conn: Conn) -> None:
    await make.sender_account(conn)
    emails = [await make.queued_email(conn) for _ in range(3)]
    old = await worker(conn)

    mine = await claimed(conn, old)
    contents = await said(
        conn,
        "read_contents",
        ids=[each["content_id"] for each in mine],
        days=[each["content_on"] for each in mine],
    )
    marks = await written(conn, old, new=mine[:2], settled=[])
    refused = await written(conn, old, new=[], settled=mine[:2])
    launch = await make.scalar(conn, "SELECT launch_id FROM mailqueue.workers WHERE id = %s", old)
    seen = {"launch_id": launch, "seen": None, "marks": None}
    [alive] = await said(conn, "beat", worker=old, is_stopping=True, **seen)
    await said(conn, "stop_worker", worker=old)

    assert {each["id"] for each in mine} == set(emails)
    assert {each["subject"] for each in contents} == {"Hello"}
    assert set(marks.values()) == {"go"}
    assert refused == {}
    assert alive["is_known"] is True
    assert sorted([str(await make.status_of(conn, each)) for each in emails]) == [
        "pending", "sent", "sent",
    ]  # fmt: skip
    assert await difference(conn) == 0


async def test_what_a_lost_worker_of_it_held_goes_back(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    old = await worker(conn)
    await claimed(conn, old)
    await make.silent(conn, old)

    [rescued] = await said(conn, "rescue_emails", silence="30 s", launch_id=None)

    assert list(rescued.values()) == [1]
    assert await make.status_of(conn, email) == "pending"


async def test_an_api_and_producers_of_it_hand_mail_in(conn: Conn) -> None:
    message = {"recipient": "ann@example.com", "subject": "Hello", "text": "Hello"}
    alone = {**message, "html": None, "options": Jsonb({"idempotency_key": "k"})}
    [one] = await said(conn, "enqueue_email", project="default", **alone)
    [again] = await said(conn, "enqueue_email", project="default", **alone)
    rows = await said(conn, "enqueue_batch", project="default", messages=Jsonb([message] * 2))

    assert one == again
    assert [row["status"] for row in rows] == ["queued", "queued"]
    assert await difference(conn) == 0
