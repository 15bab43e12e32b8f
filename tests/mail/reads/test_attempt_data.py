"""Attempts keep the custom data of their mail, and are found by it."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.mail.reads import literal
from tests.rules.source import ROOT

pytestmark = pytest.mark.anyio
LOGGED = "SELECT status, custom_data FROM mailqueue.send_logs WHERE email_id = %s ORDER BY id"


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ({"order": 81, "variables": {"name": "Ann"}}, {"order": 81}),
        ({"order": {"id": [1, 2]}}, {"order": {"id": [1, 2]}}),
        ({"variables": {"name": "Ann"}}, None),
        ({"note": "x" * 1980}, {"note": "x" * 1980}),
        ({"note": "x" * 2000}, None),
        ({f"k{number}": number for number in range(4000)}, None),
        (["order", 81], None),
        ("order", None),
        (81, None),
        (None, None),
    ],
    ids=[
        "with_variables",
        "nested",
        "variables",
        "long",
        "too_long",
        "too_many",
        "list",
        "text",
        "number",
        "none",
    ],
)
async def test_each_attempt_keeps_it_without_variables(conn: Conn, data: Any, kept: Any) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    mail = await make.queued_email(conn, custom_data=None if data is None else Jsonb(data))

    await settle(conn, await claim(conn, worker), Ending.RETRY, log=LogStatus.DEFERRED)
    await conn.execute("UPDATE mailqueue.email_queue SET run_at = now() - interval '1 s'")
    await conn.execute(
        "UPDATE mailqueue.lanes SET due_floor = '-infinity', blocked_until = NULL,"
        " blocked_reason = NULL"
    )
    await settle(conn, await claim(conn, worker), Ending.SENT, log=LogStatus.SENT)

    assert await make.rows(conn, LOGGED, mail) == [("deferred", kept), ("sent", kept)]


async def test_mail_that_fails_keeps_it(conn: Conn) -> None:
    await make.sender_account(conn)
    mail = await make.queued_email(conn, custom_data=Jsonb({"order": 81}))

    claims = await claim(conn, await make.worker(conn))
    await settle(conn, claims, Ending.FAILED, log=LogStatus.REJECTED)

    assert await make.rows(conn, LOGGED, mail) == [("rejected", {"order": 81})]


async def test_the_query_of_a_dba_is_answered_by_an_index(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await literal.fill(conn)

        rows, read = await literal.found(conn, "send_logs")

        assert "custom_data_idx" in await literal.plan(conn, "send_logs")
        assert rows == 1
        assert read <= literal.MAX_ROWS


async def test_so_is_that_of_the_queue_with_the_index_of_the_guide(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await literal.fill(conn)
        await conn.execute(literal.WHOLE_INDEX.encode())

        rows, read = await literal.found(conn, "email_queue")

        assert "email_queue_whole_custom_data_idx" in await literal.plan(conn, "email_queue")
        assert rows == 1
        assert read <= literal.MAX_ROWS


def test_the_guide_gives_that_index() -> None:
    guide = (ROOT / "docs/dba-guide.md").read_text("utf-8")

    assert " ".join(literal.WHOLE_INDEX.split()) in guide
