"""What a project uses is counted exactly when rows are inserted and deleted."""

import json

import pytest
from psycopg import DatabaseError

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects import manage as projects_manage
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.projects.bounds.steps import (
    BATCH,
    ENQUEUE,
    INSERT,
    MAIL,
    MANY,
    SHARED,
    copy,
    counted,
    shop,
    used,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("is_gathered", [False, True], ids=["signals", "gathered"])
async def test_every_way_of_handing_in_is_counted(conn: Conn, is_gathered: bool) -> None:
    project = await shop(conn)
    await conn.execute(INSERT)
    await conn.execute(ENQUEUE)
    await conn.execute(MANY, [3])
    await copy(conn, 2)
    await conn.execute(BATCH, [json.dumps([MAIL, MAIL, MAIL | {"subject": "abcd"}])])
    await conn.execute(SHARED)
    if is_gathered:
        await counted(conn)

    # Two of the batch share their content.
    found = await used(conn, project.id)
    assert (found["queued_emails"], found["stored_bytes"]) == (11, 7 * 8 + 8 + 9 + 8)
    assert await make.scalar(conn, "SELECT mailqueue.recount_usage()") == 0


async def test_what_leaves_the_queue_makes_room(conn: Conn) -> None:
    project = await shop(conn, max_queued_emails=3)
    await conn.execute(MANY, [3])
    with pytest.raises(DatabaseError, match="project shop is full"):
        async with conn.transaction():
            await conn.execute(INSERT)

    worker = await make.worker(conn)
    await settle(conn, await claim(conn, worker, limit=2))
    await conn.execute(INSERT)
    await conn.execute(INSERT)

    assert (await used(conn, project.id))["queued_emails"] == 3
    with pytest.raises(DatabaseError):
        async with conn.transaction():
            await conn.execute(INSERT)


async def test_cancelled_requeued_and_suppressed_mail_is_counted(conn: Conn) -> None:
    project = await shop(conn)
    await conn.execute(MANY, [4])
    ids = [row[0] for row in await make.rows(conn, "SELECT id FROM mailqueue.email_queue")]
    await conn.execute("SELECT mailqueue.cancel_emails(%s, %s)", (project.id, ids[:3]))
    assert (await used(conn, project.id))["queued_emails"] == 1

    await conn.execute("SELECT mailqueue.requeue_emails(%s, %s)", (project.id, ids[:2]))
    assert (await used(conn, project.id))["queued_emails"] == 3

    await make.inserted(
        conn,
        "suppressions",
        {"project_id": project.id, "address": "ann@example.com", "reason": "manual"},
    )
    await conn.execute(INSERT)
    await counted(conn)
    assert (await used(conn, project.id))["queued_emails"] == 3
    assert await make.scalar(conn, "SELECT mailqueue.recount_usage()") == 0


async def test_rows_that_were_removed_around_triggers_are_corrected(conn: Conn) -> None:
    project = await shop(conn, max_queued_emails=10)
    await conn.execute(MANY, [10])
    await make.by_hand(conn)
    await conn.execute("ALTER TABLE mailqueue.email_queue DISABLE TRIGGER email_queue_left")
    await conn.execute("DELETE FROM mailqueue.email_queue")
    assert (await used(conn, project.id))["queued_emails"] == 10

    assert await make.scalar(conn, "SELECT mailqueue.recount_usage()") == 1

    assert (await used(conn, project.id))["queued_emails"] == 0
    await conn.execute(MANY, [10])


async def test_deleting_rows_by_hand_is_counted_at_once(conn: Conn) -> None:
    project = await shop(conn)
    await conn.execute(MANY, [10])
    await make.by_hand(conn)
    await conn.execute("DELETE FROM mailqueue.email_queue")
    await conn.execute("DELETE FROM mailqueue.email_contents")

    found = await used(conn, project.id)
    assert (found["queued_emails"], found["stored_bytes"]) == (0, 0)


async def test_a_bound_in_an_older_database_counts_what_is_there(conn: Conn) -> None:
    project = await shop(conn)
    await conn.execute(MANY, [5])
    await counted(conn)
    await conn.execute("DELETE FROM mailqueue.project_usage")  # as an earlier version left it

    await projects_manage.change(conn, "shop", changes={"max_queued_emails": 5}, by="ann")

    assert (await used(conn, project.id))["queued_emails"] == 5
    with pytest.raises(DatabaseError, match="is full"):
        async with conn.transaction():
            await conn.execute(INSERT)


async def test_mail_of_test_keys_counts_and_is_refused_like_other_mail(conn: Conn) -> None:
    project = await shop(conn, max_queued_emails=3)
    of_test = INSERT.replace("(project,", "(sender, project,").replace(
        "('shop'", "('(test)', 'shop'"
    )
    await conn.execute(of_test)
    await conn.execute(MANY, [2])

    assert (await used(conn, project.id))["queued_emails"] == 3
    for statement in (INSERT, of_test):
        with pytest.raises(DatabaseError, match="project shop is full"):
            async with conn.transaction():
                await conn.execute(statement)


async def test_a_deleted_project_keeps_counting_what_it_keeps(conn: Conn) -> None:
    project = await shop(conn)
    await conn.execute(MANY, [3])
    before = await used(conn, project.id)
    await projects_manage.delete(conn, "shop", by="ann")
    await counted(conn)

    found = await used(conn, project.id)
    left = "SELECT count(*) FROM mailqueue.email_queue WHERE project_id = %s"
    assert found["queued_emails"] == await make.scalar(conn, left, project.id)
    assert found["stored_bytes"] == before["stored_bytes"] > 0
    listed = await make.rows(
        conn, "SELECT DISTINCT project FROM mailqueue.bounds_of_projects() AS b (a, project)"
    )
    assert ("shop",) not in listed
    assert await make.scalar(conn, "SELECT mailqueue.recount_usage()") == 0


@pytest.mark.parametrize(("age", "is_refused"), [("-1 min", False), ("1.1 s", True)])
async def test_mail_of_others_counts_within_a_second(
    database: DatabaseSettings, age: str, is_refused: bool
) -> None:
    """Producers count it themselves where workers have not done so for a second."""
    async with connect(database) as conn, connect(database) as other:
        await shop(conn, max_queued_emails=3)
        await counted(conn)
        await other.execute(MANY, [3])
        await conn.execute(
            "UPDATE mailqueue.usage_counts SET counted_at = clock_timestamp() - %s::interval",
            (age,),
        )
        if not is_refused:
            await conn.execute(INSERT)
            return
        with pytest.raises(DatabaseError, match="project shop is full"):
            await conn.execute(INSERT)
