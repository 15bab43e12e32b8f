"""The mail that a filter matches, invalid filters, and the cost of searching."""

from collections.abc import AsyncIterator

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.operations.steps import aged, audit, count, finished, matching

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        ({}, 5),
        ({"campaign_id": "spring"}, 2),
        ({"campaign_id": "summer"}, 0),
        ({"category": "marketing"}, 1),
        ({"domain": "Example.NET"}, 2),
        ({"domain": "@example.net"}, 2),
        ({"domain": "net"}, 0),
        ({"lane": "high"}, 1),
        ({"lane": "1"}, 1),
        ({"lane": "normal/relay"}, 1),
        ({"lane": "normal/default"}, 3),
        ({"sender": "relay"}, 1),
        ({"older_than": "1d"}, 1),
        ({"newer_than": "1 day"}, 4),
        ({"older_than": "1d", "newer_than": "3d"}, 1),
        ({"older_than": "3d"}, 0),
        ({"status": "pending"}, 5),
        ({"campaign_id": "spring", "domain": "example.net"}, 1),
        ({"tag": "vip"}, 1),
        ({"tag": "vi"}, 0),
    ],
)
async def test_each_condition_finds_its_mail_and_no_other(
    conn: Conn, conditions: dict[str, str], found: int
) -> None:
    await make.sender_account(conn, name="relay")
    await make.sender_account(conn, name="second")
    await make.queued_email(conn, campaign_id="spring", recipient_email="a@EXAMPLE.net")
    await make.queued_email(conn, campaign_id="spring", category="marketing")
    await make.queued_email(conn, priority=1, tags=["vip", "new"])
    await make.queued_email(conn, sender="relay")
    await make.project(conn, "shop")
    await make.queued_email(conn, project="shop", campaign_id="spring")
    old = await make.queued_email(conn, cc=["b@example.net"])
    await aged(conn, old, "2 days")

    assert await count(conn, "hold", **conditions) == found
    assert await matching(conn, "hold", **conditions) == found
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.held") == found


HOSTILE = ("100% off", "a_b", "a\\b", ".*", "it's; --", "[x](y)")
"""Subjects that mean something else in a pattern, in SQL or in a regular expression."""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SPRING", ["Your spring sale"]),
        ("ÄRGER", ["Großer Ärger"]),
        ("spring  sale", []),
        ("%", ["100% off"]),
        ("_", ["a_b"]),
        ("\\", ["a\\b"]),
        (".", [".*"]),
        ("'", ["it's; --"]),
        ("[X]", ["[x](y)"]),
        ("^Your", []),
        ("$", []),
    ],
    ids=str,
)
@pytest.mark.parametrize("verb", ["hold", "requeue"])
async def test_a_subject_matches_as_it_is_written_in_either_case(
    conn: Conn, verb: str, text: str, found: list[str]
) -> None:
    for subject in (*HOSTILE, "Your spring sale", "Großer Ärger"):
        await make.queued_email(conn, subject=subject)
    if verb == "requeue":
        await matching(conn, "cancel")

    assert await count(conn, verb, subject=text) == len(found)
    assert await matching(conn, verb, subject=text) == len(found)
    changed = "status = 'held'" if verb == "hold" else "status = 'pending'"
    query = f"SELECT subject FROM mailqueue.emails WHERE {changed}"
    assert [row[0] for row in await make.rows(conn, query)] == found


@pytest.mark.parametrize(
    ("asked", "field", "words"),
    [
        ({"project": "default", "campain": "x"}, "campain", "there is no such filter"),
        ({"campaign_id": "x"}, "project", "needs the name of a project"),
        ({"project": "nowhere"}, "project", "no project"),
        ({"project": "default", "campaign_id": 1}, "campaign_id", "a string is needed, got number"),
        ({"project": "default", "campaign_id": None}, "campaign_id", "got null"),
        ({"project": "default", "lane": "urgent"}, "lane", "critical, high, normal or low"),
        ({"project": "default", "lane": "high/x"}, "lane", "no route"),
        ({"project": "default", "sender": "x"}, "sender", "no sender account"),
        ({"project": "default", "older_than": "yesterday"}, "older_than", "an age such as"),
        ({"project": "default", "older_than": "-1 day"}, "older_than", "an age such as"),
        ({"project": "default", "status": "sent"}, "status", "cancel takes mail that is pending"),
        ({"project": "default", "subject": ""}, "subject", "1 to 998 characters"),
        ({"project": "default", "subject": "x" * 999}, "subject", "got 999"),
        ([], "filter", "an object is needed, got array"),
        (None, "filter", "an object is needed, got null"),
    ],
)
@pytest.mark.parametrize("is_dry", [True, False])
async def test_a_filter_that_cannot_be_meant_is_refused_by_name(
    conn: Conn, asked: object, field: str, words: str, is_dry: bool
) -> None:
    email = await make.queued_email(conn)

    with pytest.raises(errors.InvalidParameterValue, match=words) as caught:
        async with conn.transaction():
            await conn.execute(
                "SELECT mailqueue.cancel_matching(%s, 'x', %s)", (Jsonb(asked), is_dry)
            )

    assert caught.value.diag.column_name == field
    assert await make.status_of(conn, email) == "pending"
    assert await audit(conn) == []


async def test_finished_mail_is_found_by_the_account_that_sent_it(conn: Conn) -> None:
    await make.sender_account(conn, name="first", priority=1)
    await make.sender_account(conn, name="second", priority=2)
    await finished(conn)

    assert await count(conn, "resend", sender="first") == 1
    assert await count(conn, "resend", sender="second") == 0


@pytest.fixture
async def big(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database, application_name="test") as conn:
        yield conn


async def fill(conn: Conn, count: int, campaign: str) -> None:
    await conn.execute(
        "SELECT mailqueue.enqueue_batch('default', (SELECT jsonb_agg(jsonb_build_object("
        "'recipient', 'p' || n || '@example.com', 'subject', 's', 'text', 't', 'campaign_id',"
        " %s::text)) FROM generate_series(1, %s) AS n))",
        (campaign, count),
    )


async def test_all_pages_together_walk_the_queue_once(big: Conn) -> None:
    """A plan for one page alone would sort the whole queue for each page."""
    await make.sender_account(big)
    await fill(big, 4500, "summer")
    await big.execute("ANALYZE mailqueue.email_queue")
    await big.execute("SET random_page_cost = 100")  # as a planner sees a queue that is large
    await fill(big, 500, "spring")
    operation = await make.scalar(
        big,
        "SELECT mailqueue.begin_operation('hold', %s, '{\"reason\": \"r\"}')",
        Jsonb({"project": "default", "campaign_id": "spring"}),
    )

    visited, done, after = 0, 0, None
    while True:
        async with big.transaction():
            before = await _index_reads(big)
            [(handled, after)] = await make.rows(
                big, "SELECT * FROM mailqueue.continue_operation(%s, %s, 50)", operation, after
            )
            visited += await _index_reads(big) - before
        done += handled
        if after is None:
            break

    assert done == 500
    assert visited < 3 * 5000 + 500 * 20, "each page walks only over what is new"


async def _index_reads(conn: Conn) -> int:
    found: int = await make.scalar(
        conn,
        "SELECT coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint"
        " FROM pg_stat_xact_user_tables WHERE relname = 'email_queue'",
    )
    return found
