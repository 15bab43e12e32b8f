"""Erasing persons ends whatever unique or bounded columns name them, and what comes meanwhile."""

import pytest
from psycopg.types.json import Jsonb

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import erasing, persons
from mailqueue.suppression import entries
from tests import make
from tests.privacy.erasing import erased
from tests.timed_events import events

pytestmark = pytest.mark.anyio

PERSONS = ("a@b.example", "c@d.example")


async def test_who_unsubscribes_while_being_erased_stays_unsubscribed(
    desk: MaintenanceContext,
) -> None:
    conn = desk.conn
    project = await make.project_named(conn)
    suppress = "SELECT mailqueue.suppress(%s, %s, 'marketing', 'unsubscribed', 'by hand')"
    lend = persons.lending(conn)

    for person in PERSONS:
        spellings = persons.spellings_of(person)
        begun = await erasing.begin(lend, project, spellings, suppress=False, by="tests")
        await conn.execute(suppress, (project, person))
        assert (await erasing.go_on(lend, begun, context=desk, by="tests")).is_done

    for person in PERSONS:
        found = await entries.check(conn, "default", email=person, category="marketing")
        assert (found.suppressed, found.suppressions[0].email) == (True, None)


async def test_keys_that_name_several_persons_stay_different(desk: MaintenanceContext) -> None:
    conn = desk.conn
    project = await make.project_named(conn)
    await events.template(conn)
    add = (
        "SELECT mailqueue.put_timed_event('trial.ends', at => now() + interval '1 day',"
        " template => 'welcome', recipient => 'sales@example.com', idempotency_key => %s)"
    )
    for person in PERSONS:
        await conn.execute(add, (f"trial of {person}",))

    for person in PERSONS:
        assert (await erased(desk, person)).is_done

    query = "SELECT idempotency_key FROM mailqueue.timed_events WHERE project_id = %s"
    keys = [key for (key,) in await make.rows(conn, query, project)]
    assert len(set(keys)) == len(PERSONS)
    assert all(key.startswith("trial of erased-") for key in keys)
    assert not [key for key in keys for person in PERSONS if person in key]


async def test_a_name_is_no_longer_than_it_may_be(desk: MaintenanceContext) -> None:
    conn, name = desk.conn, f"{'x' * 180} {PERSONS[0]}"
    add = (
        "INSERT INTO mailqueue.broadcasts (project_id, name, content, created_by)"
        " VALUES (%s, %s, %s, 'tests')"
    )
    await conn.execute(add, (await make.project_named(conn), name, Jsonb({})))

    assert (await erased(desk, PERSONS[0])).is_done

    kept = await make.scalar(conn, "SELECT name FROM mailqueue.broadcasts")
    assert kept == f"{'x' * 180} erased@erased.invalid"[: len(name)]
