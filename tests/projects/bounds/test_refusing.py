"""A project at one of its bounds is refused by every interface, other projects are not."""

import json
from uuid import UUID

import pytest
from psycopg import DatabaseError

from mailqueue.db.fetch import Conn
from tests import make
from tests.projects.bounds.steps import (
    INSERT,
    MANY,
    WAYS,
    copy,
    hand_in,
    shop,
    used,
)

pytestmark = pytest.mark.anyio

PDF = "JVBERi0xLjQK"


async def attach(conn: Conn, content: str) -> None:
    file = {"filename": "a.pdf", "content_type": "application/pdf", "content": content}
    await conn.execute(
        "SELECT mailqueue.enqueue('shop', 'ann@example.com', 'abc', text => '1', options => %s)",
        [json.dumps({"attachments": [file]})],
    )


async def record(conn: Conn, email: UUID, type_: str) -> str:
    event = [{"type": type_, "source": "test", "email_id": str(email), "event_id": type_}]
    found: str = await make.scalar(
        conn, "SELECT result FROM mailqueue.record_events(%s::jsonb)", json.dumps(event)
    )
    return found


@pytest.mark.parametrize("way", WAYS)
async def test_a_full_project_is_refused_in_every_way(conn: Conn, way: str) -> None:
    project = await shop(conn, max_queued_emails=5)
    await conn.execute(MANY, [5])

    with pytest.raises(DatabaseError) as info:
        await hand_in(conn, way, 1)

    assert info.value.sqlstate == "MQ002"
    assert info.value.diag.column_name == "max_queued_emails"
    assert info.value.diag.message_primary == (
        "project shop is full: it has 5 queued emails and may have 5"
    )
    assert "mailqueue project change shop --max-queued-emails N" in (
        info.value.diag.message_hint or ""
    )
    assert (await used(conn, project.id))["queued_emails"] == 5
    await make.queued_email(conn)  # of another project


@pytest.mark.parametrize("way", ["COPY", "BATCH", "MANY"])
async def test_a_statement_that_exceeds_a_bound_is_refused_whole(conn: Conn, way: str) -> None:
    project = await shop(conn, max_queued_emails=10)
    with pytest.raises(DatabaseError, match="is full"):
        await hand_in(conn, way, 11)

    assert (await used(conn, project.id))["queued_emails"] == 0
    await copy(conn, 10)


async def test_stored_bytes_are_bounded(conn: Conn) -> None:
    project = await shop(conn, max_stored_bytes=20)
    await conn.execute(INSERT)
    await conn.execute(INSERT)
    with pytest.raises(DatabaseError) as info:
        async with conn.transaction():
            await conn.execute(INSERT)

    assert info.value.diag.column_name == "max_stored_bytes"
    assert (await used(conn, project.id))["stored_bytes"] == 16


async def test_files_are_counted_once_and_bounded(conn: Conn) -> None:
    project = await shop(conn, max_uploads=2)
    await attach(conn, PDF)
    await attach(conn, PDF)  # stored before
    assert (await used(conn, project.id))["uploads"] == 1
    await attach(conn, "JVBERi0xLjUK")
    with pytest.raises(DatabaseError) as info:
        async with conn.transaction():
            await attach(conn, "JVBERi0xLjYK")

    assert info.value.diag.column_name == "max_uploads"
    assert (await used(conn, project.id))["stored_bytes"] == 3 * 4 + 2 * 9
    await make.by_hand(conn)
    await conn.execute("DELETE FROM mailqueue.attachments")
    await attach(conn, "JVBERi0xLjYK")


async def test_templates_are_bounded(conn: Conn) -> None:
    project = await shop(conn, max_templates=1)
    add = "SELECT mailqueue.add_template(%s, %s::jsonb, 'ann')"
    first = await make.scalar(conn, add, project.id, '{"slug": "one"}')
    with pytest.raises(DatabaseError) as info:
        async with conn.transaction():
            await conn.execute(add.encode(), (project.id, '{"slug": "two"}'))

    assert info.value.diag.column_name == "max_templates"
    await conn.execute("SELECT mailqueue.remove_template(%s, 'ann')", [first])
    await conn.execute(add.encode(), (project.id, '{"slug": "two"}'))


async def test_opens_beyond_the_bound_are_not_stored_and_bounces_are(conn: Conn) -> None:
    project = await shop(conn, max_events=1)
    await conn.execute(INSERT)
    ((email, _),) = await make.claimed(conn, await make.worker(conn))
    assert await record(conn, email, "opened") == "recorded"

    assert await record(conn, email, "clicked") == "ignored"
    assert await record(conn, email, "hard_bounce") == "recorded"

    assert (await used(conn, project.id))["events"] >= 2
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 1
