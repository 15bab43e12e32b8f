"""What is pending for a contact anywhere ends in the transaction that removes or erases it."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people
from tests.schedules import turning
from tests.sequences import running
from tests.timed_events import events

pytestmark = pytest.mark.anyio
LATER = (datetime.now(UTC) + timedelta(days=1)).isoformat()
Way = Callable[[Conn, UUID, UUID], Awaitable[object]]


async def _end(conn: Conn, project: UUID, ann: UUID) -> None:
    query = "SELECT mailqueue.end_pending_of_contact(%s, %s)"
    assert await make.scalar(conn, query, project, ann) is not None


async def _remove(conn: Conn, project: UUID, ann: UUID) -> None:
    assert await make.scalar(conn, "SELECT mailqueue.remove_contact(%s, %s)", project, ann) == 0


async def _erase(conn: Conn, project: UUID, _: UUID) -> None:
    query = "SELECT mailqueue.begin_erasure(%s, '{ann@example.com}', false, 'tests')"
    await make.scalar(conn, query, project)


WAYS = pytest.mark.parametrize("way", [_end, _remove, _erase], ids=["end", "remove", "erase"])


@WAYS
async def test_enrollments_end(conn: Conn, way: Way) -> None:
    project = await running.project_with_template(conn)
    await running.sequence(conn, project)
    ann, bob = await people.added(conn, project, "ann@example.com", "bob@example.com")
    for one in (ann, bob):
        await running.enroll(conn, project, one)

    await way(conn, project, ann)

    await running.turn(conn, running.NOON)
    assert await running.mails(conn) == ["bob@example.com welcome"]


@WAYS
async def test_timed_events_end(conn: Conn, way: Way) -> None:
    await events.template(conn)
    project = await make.project_named(conn)
    await events.birthdays(conn)
    two = ("ann@example.com", "bob@example.com")
    ann, _ = await people.added(conn, project, *two, date_of_birth="1990-05-31")
    query = "SELECT mailqueue.put_timed_event('renewal', now(), contact_id => %s, template => %s)"
    await make.scalar(conn, query, ann, "welcome")
    await events.make_due(conn)

    await way(conn, project, ann)

    await events.fire(conn)
    query = "SELECT recipient_email FROM mailqueue.email_queue"
    assert await make.rows(conn, query) == [("bob@example.com",)]


@WAYS
@pytest.mark.parametrize("is_claimed", [False, True])
async def test_timed_events_that_name_the_address_end(
    conn: Conn, way: Way, *, is_claimed: bool
) -> None:
    """Also one that a worker has; those of other persons and of test keys stay."""
    await events.template(conn)
    project = await make.project_named(conn)
    [ann] = await people.added(conn, project, "ann@example.com")
    query = """
        SELECT mailqueue.put_timed_event('renewal', now(), template => 'welcome', recipient => %s,
                                         is_test => %s)
    """
    for recipient in ("Ann <Ann@Example.com>", "bob@example.com"):
        await make.scalar(conn, query, recipient, False)
    await make.scalar(conn, query, "ann@example.com", True)
    await events.make_due(conn)
    claimed = await events.claim(conn) if is_claimed else []

    await way(conn, project, ann)

    await events.settle(conn, claimed)
    await events.fire(conn)
    query = "SELECT recipient_email, is_test FROM mailqueue.email_queue ORDER BY is_test"
    kept = [("bob@example.com", False), ("ann@example.com", True)]
    assert await make.rows(conn, query) == kept


SPELLINGS = [
    ("ann@example.com", "ANN@Example.com"),
    ("ann@example.com", "Zo\u00eb \u00c4 <Ann@example.com>"),
    ("ann@example.com", '"<Ann>" <ann@example.com>'),
    ("ann@b\u00fccher.example", "Ann <ann@xn--bcher-kva.example>"),
    ("ann@xn--bcher-kva.example", "Ann <ann@B\u00dcCHER.example>"),
]


@pytest.mark.parametrize(("address", "mailbox"), SPELLINGS)
async def test_timed_events_end_however_they_spell_the_address(
    conn: Conn, address: str, mailbox: str
) -> None:
    await events.template(conn)
    project = await make.project_named(conn)
    [ann] = await people.added(conn, project, address)
    query = "SELECT mailqueue.put_timed_event('x', now(), template => 'welcome', recipient => %s)"
    await make.scalar(conn, query, mailbox)

    await _end(conn, project, ann)

    query = "SELECT status, last_error FROM mailqueue.timed_events"
    assert await make.rows(conn, query) == [("cancelled", "the contact was removed")]


ONLY_ANN = """
CREATE OR REPLACE FUNCTION mailqueue.split_mailbox(p_mailbox text, OUT name text, OUT address text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF p_mailbox <> 'Ann <ann@example.com>' THEN
        RAISE EXCEPTION 'split: %', p_mailbox;
    END IF;
    address := 'ann@example.com';
END $$
"""


async def test_mailboxes_of_others_are_not_split(conn: Conn) -> None:
    """Splitting one costs microseconds, and a project may have a million of such events."""
    await events.template(conn)
    project = await make.project_named(conn)
    [ann] = await people.added(conn, project, "ann@example.com")
    query = "SELECT mailqueue.put_timed_event('x', now(), template => 'welcome', recipient => %s)"
    others = ["bob@example.com", "Ann <an@example.com>", "Zo\u00eb <zoe@example.com>"]
    for mailbox in (*others, "Ann <ann@example.com>"):
        await make.scalar(conn, query, mailbox)

    async with conn.transaction(force_rollback=True):
        await conn.execute(ONLY_ANN)
        await _end(conn, project, ann)
        query = "SELECT recipient FROM mailqueue.timed_events WHERE status = 'cancelled'"
        assert await make.rows(conn, query) == [("Ann <ann@example.com>",)]


@WAYS
async def test_runs_of_schedules_that_are_being_made_leave_it_out(conn: Conn, way: Way) -> None:
    """The contact of a list, and the one whose address a schedule names."""
    project = await make.project_named(conn)
    ann, bob = await people.added(conn, project, "ann@example.com", "bob@example.com")
    [tried] = await people.added(conn, project, "ann@example.com", is_test=True)
    await people.list_of(conn, project, members=[ann, bob])
    others = [f"n{n}@example.com" for n in range(100)]
    words = {"subject": "Hello", "text_body": "Hello"}
    for to in (["news"], ["Ann@example.com", *others]):
        payload = {"to": to, **words}
        made = await turning.put(conn, schedule_type="once", run_at=LATER, payload=payload)
        await turning.due(conn, made)
    await turning.turn(conn)
    assert await turning.queued(conn) == 0

    await way(conn, project, ann)

    if way is _end:  # it is still in the list
        await conn.execute(
            "DELETE FROM mailqueue.contact_list_members WHERE contact_id = %s", [ann]
        )
    await turning.make_runs(conn, part=10)
    query = "SELECT recipient_email FROM mailqueue.email_queue ORDER BY recipient_email"
    found = [row[0] for row in await make.rows(conn, query)]
    assert found == sorted(["bob@example.com", *others])
    left = await make.rows(conn, "SELECT is_test FROM mailqueue.contacts WHERE id = %s", tried)
    assert left == ([] if way is _erase else [(True,)])


async def test_a_live_key_removes_no_contact_of_test_keys(conn: Conn) -> None:
    project = await make.project_named(conn)
    [tried] = await people.added(conn, project, "ann@example.com", is_test=True)
    for mode, removed in (("live", None), ("test", 0)):
        async with conn.transaction():
            await make.scalar(conn, "SELECT set_config('mailqueue.mode', %s, true)", mode)
            query = "SELECT mailqueue.remove_contact(%s, %s)"
            assert await make.scalar(conn, query, project, tried) == removed
        query = "SELECT count(*) FROM mailqueue.contacts"
        assert await make.scalar(conn, query) == (0 if mode == "test" else 1)
