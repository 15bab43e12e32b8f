"""Mail to a list goes to each contact that was in it, once for each batch."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.contacts.sends import handler as handling
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.templates.model import NewText
from tests import make
from tests.contacts import people
from tests.contacts.sends import steps
from tests.templates.making import published

pytestmark = pytest.mark.anyio


@pytest.fixture
async def db(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """Yield a connection that commits."""
    async with connect(database) as conn:
        yield conn


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handling, "MAX_CHUNK", 3)


async def test_every_contact_of_a_list_gets_one_mail_of_the_batch(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    ids = await steps.listed(db, project, 7)
    await people.list_of(db, project, "more", members=ids[5:])
    batch = uuid4()

    send = await steps.sent(db, project, batch=batch)
    again = await steps.sent(db, project, batch=batch)
    more = await steps.sent(db, project, batch=batch, name="more")
    await steps.worked(database)

    assert send == again
    assert await steps.queued(db) == [f"news{n}@example.com" for n in range(7)]
    found = [await steps.progress(db, one) for one in (send, more)]
    assert [one["status"] for one in found] == ["done", "done"]
    assert sum(one.get("accepted", 0) for one in found) == 7
    counted = "SELECT recipients, counts FROM mailqueue.batch_of(%s, %s)"
    assert await make.rows(db, counted, project, batch) == [(7, {"pending": 7})]


async def test_suppressed_removed_and_unconfirmed_contacts_get_none(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    ids = await steps.listed(db, project, 4)
    await db.execute(
        "SELECT mailqueue.suppress(%s, 'news1@example.com', '', 'manual', NULL, NULL, 'tests')",
        (project,),
    )
    send = await steps.sent(db, project)
    assert await step(db, send) == "more"  # the contacts are stored
    await db.execute("SELECT mailqueue.remove_contact(%s, %s)", (project, ids[0]))
    late = await people.added(db, project, "late@example.com")
    await db.execute("SELECT mailqueue.add_list_members(%s, 'news', %s)", (project, late))
    await free(db)
    await steps.worked(database)

    assert await steps.queued(db) == ["news2@example.com", "news3@example.com"]
    assert await steps.progress(db, send) == {
        "status": "done",
        "contacts": 4,
        "accepted": 2,
        "suppressed": 1,
        "withdrawn": 1,
    }


async def test_a_list_that_asks_for_consent_leaves_others_out(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    await people.list_of(db, project, "asked", opt_in="confirmed")
    await people.list_of(db, project, "told", opt_in="recorded")
    ids = await people.added(db, project, "ann@example.com")
    ids += await people.added(db, project, "bob@example.com", consent_source="form")
    for name in ("asked", "told"):
        await db.execute("SELECT mailqueue.add_list_members(%s, %s, %s)", (project, name, ids))

    await steps.sent(db, project, name="asked")
    await steps.sent(db, project, name="told")
    await steps.worked(database)

    query = "SELECT recipient_email FROM mailqueue.emails WHERE subject = 'Hello'"
    assert await make.rows(db, query) == [("bob@example.com",)]
    counted = "SELECT contacts, pending FROM mailqueue.count_list(%s, 'asked')"
    assert await make.rows(db, counted, project) == [(0, 2)]


async def test_a_template_gets_the_fields_of_each_contact_and_its_language(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    await published(
        db, project, words=NewText("Hello {{ contact.first_name }}, {{ Edition }}", None, "x")
    )
    ann = await people.added(db, project, "ann@example.com", first_name="Ann", last_name="Lee")
    await people.list_of(db, project, members=ann)

    await steps.sent(
        db,
        project,
        content={"template": "welcome"},
        variables={"Edition": "48"},
        own={"tags": ["weekly"], "custom_data": {"campaign": "may"}},
    )
    await steps.worked(database)

    query = "SELECT recipient_name, tags, custom_data FROM mailqueue.email_queue"
    [(name, tags, data)] = await make.rows(db, query)
    assert (name, tags, data["campaign"]) == ("Ann Lee", ["weekly"], "may")
    variables = data["variables"]
    assert (variables["Edition"], variables["contact"]["first_name"]) == ("48", "Ann")
    assert variables["contact"]["id"] == str(ann[0])


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "nobody"}, "recipients"),
        ({"options": {"cc": ["ann@example.com"]}}, "cc"),
        ({"options": {"idempotency_key": "1"}}, "idempotency_key"),
        ({"variables": {"contact": {}}}, "variables"),
        ({"variables": [1]}, "variables"),
        ({"own": {"custom_data": {"variables": {}}}}, "custom_data"),
        ({"own": {"tags": [1]}}, "tags"),
        ({"content": {"subject": "x"}}, "html_body"),
        ({"content": {"template": "none"}}, "template"),
        ({"options": {"sender": "none"}}, "sender"),
        ({"time_zone": "Mars/Base"}, "time_zone"),
    ],
)
async def test_what_is_wrong_with_a_send_is_refused_at_once(
    conn: Conn, given: dict[str, Any], field: str
) -> None:
    project = await make.project_named(conn)
    await steps.listed(conn, project, 1)

    with pytest.raises(InvalidField) as refused:
        await steps.sent(conn, project, **given)

    assert refused.value.field == field


async def test_a_cancelled_batch_makes_no_more_mail(db: Conn, database: DatabaseSettings) -> None:
    project = await make.project_named(db)
    await steps.listed(db, project, 7)
    batch = uuid4()
    send = await steps.sent(db, project, batch=batch)
    await step(db, send)
    await step(db, send)

    acted = "SELECT results FROM mailqueue.act_on_batch(%s, %s, 'cancel', 'a mistake', 'ann')"
    assert await make.scalar(db, acted, project, batch) == {"cancelled": 3}
    await free(db)
    await steps.worked(database)

    assert await steps.queued(db) == []
    assert (await steps.progress(db, send))["status"] == "stopped"


@pytest.mark.parametrize("chunk", [3, 500])
async def test_a_full_project_takes_the_rest_of_a_list_later(
    chunk: int, db: Conn, database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handling, "MAX_CHUNK", chunk)
    project = await make.project_named(db)
    await steps.listed(db, project, 5)
    await db.execute(
        "UPDATE mailqueue.projects SET max_queued_emails = 3 WHERE id = %s", (project,)
    )
    send = await steps.sent(db, project)

    await steps.worked(database)

    assert (await steps.progress(db, send))["status"] == "pending"
    assert len(await steps.queued(db)) == 3
    await db.execute("UPDATE mailqueue.projects SET max_queued_emails = NULL")
    await db.execute("UPDATE mailqueue.list_sends SET run_at = now()")
    await steps.worked(database)
    assert len(await steps.queued(db)) == 5


async def test_contacts_of_test_keys_are_apart(db: Conn, database: DatabaseSettings) -> None:
    project = await make.project_named(db)
    await steps.listed(db, project, 1)
    async with db.transaction():
        await db.execute("SELECT set_config('mailqueue.mode', 'test', true)")
        assert await make.scalar(db, "SELECT count(*) FROM mailqueue.contacts WHERE is_test") == 0
        await people.put(db, project, "news0@example.com", first_name="Test")
    await db.execute("SELECT set_config('mailqueue.mode', 'test', false)")
    with pytest.raises(InvalidField, match="there is no list"):
        await steps.sent(db, project)
    await db.execute("SELECT set_config('mailqueue.mode', '', false)")

    assert await make.scalar(db, "SELECT count(*) FROM mailqueue.contacts") == 2
    await people.put(db, project, "news0@example.com", first_name="Live")
    query = "SELECT first_name, is_test FROM mailqueue.contacts ORDER BY is_test"
    assert await make.rows(db, query) == [("Live", False), ("Test", True)]


async def step(conn: Conn, send: UUID) -> str:
    """Let a worker that claimed a send make one chunk, and die."""
    claimed = (
        "UPDATE mailqueue.list_sends SET status = 'assigned', claim_no = 1,"
        " lease_until = now() + interval '1 min' WHERE id = %s"
    )
    await conn.execute(claimed, (send,))
    found = await make.scalar(conn, "SELECT mailqueue.continue_list_send(%s, 1, 3)", send)
    return str(found)


async def free(conn: Conn) -> None:
    """Return what dead workers held to the queue."""
    await conn.execute(
        "UPDATE mailqueue.list_sends SET status = 'pending', claim_no = NULL, lease_until = NULL"
    )


async def test_a_lost_claim_makes_nothing(conn: Conn) -> None:
    project = await make.project_named(conn)
    await steps.listed(conn, project, 2)
    send = await steps.sent(conn, project)
    await step(conn, send)

    found = await make.scalar(conn, "SELECT mailqueue.continue_list_send(%s, 2, 3)", send)

    assert (found, await steps.queued(conn)) == ("lost", [])


async def test_mail_waits_for_the_local_time_of_each_contact(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    ann = await people.added(db, project, "ann@example.com", time_zone="Pacific/Auckland")
    bob = await people.added(db, project, "bob@example.com")
    await people.list_of(db, project, members=ann + bob)

    await steps.sent(
        db,
        project,
        local_at=datetime.fromisoformat("2037-07-01T09:00:00"),
        time_zone="Europe/Berlin",
    )
    await steps.worked(database)

    query = (
        "SELECT recipient_email, (run_at AT TIME ZONE 'UTC')::text"
        " FROM mailqueue.email_queue ORDER BY 1"
    )
    assert await make.rows(db, query) == [
        ("ann@example.com", "2037-06-30 21:00:00"),
        ("bob@example.com", "2037-07-01 07:00:00"),
    ]


async def test_contacts_that_are_removed_between_chunks_are_counted(conn: Conn) -> None:
    project = await make.project_named(conn)
    ids = await steps.listed(conn, project, 3)
    send = await steps.sent(conn, project)
    claim = "UPDATE mailqueue.list_sends SET status = 'assigned', claim_no = 1 WHERE id = %s"
    await conn.execute(claim, (send,))
    go_on = "SELECT mailqueue.continue_list_send(%s, 1, 2)"

    assert await make.scalar(conn, go_on, send) == "more"
    await conn.execute("SELECT mailqueue.remove_contact(%s, %s)", (project, ids[2]))
    assert await make.scalar(conn, go_on, send) == "more"
    assert await make.scalar(conn, go_on, send) == "done"

    found = await steps.progress(conn, send)
    assert found == {"status": "assigned", "contacts": 3, "accepted": 2, "withdrawn": 1}
