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

UNIQUE = """
    SELECT c.oid, a.attname FROM pg_index AS i
      JOIN pg_class AS c ON c.oid = i.indrelid AND c.relkind = 'r'
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
     WHERE i.indisunique AND coalesce(pg_get_expr(i.indpred, c.oid), '') !~ '@erased'
"""
BOUNDED = """
    SELECT c.oid, a.attname FROM pg_constraint AS k
      JOIN pg_class AS c ON c.oid = k.conrelid AND c.relkind = 'r'
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (k.conkey)
     WHERE k.contype = 'c' AND pg_get_constraintdef(k.oid) ~ '[^_]length'
"""
CHANGED = """
    SELECT DISTINCT k.oid::regclass::text || '.' || k.attname,
           mailqueue.mention_replaced(k.oid, k.attname) ~ '{form}'
      FROM ({columns}) AS k
     CROSS JOIN LATERAL mailqueue.privacy_action(mailqueue.privacy_parent(k.oid)) AS p(action)
     WHERE k.oid::regclass::text ~ '^mailqueue[.]' AND p.action <> 'delete'
       AND (p.action <> 'tell' OR k.attname IN ('reason', 'note', 'notes', 'description'))
       AND EXISTS (SELECT FROM mailqueue.text_columns(k.oid) AS t
                    WHERE t.name = k.attname AND t.kind = 'text')
"""
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
    assert kept == f"{'x' * 180} erased@erased.invalid"[:200]


@pytest.mark.parametrize(("columns", "form"), [(UNIQUE, "random_uuid"), (BOUNDED, "left")])
async def test_every_unique_and_every_bounded_column_is_known(
    desk: MaintenanceContext, columns: str, form: str
) -> None:
    found = await make.rows(desk.conn, CHANGED.format(columns=columns, form=form))

    assert found
    assert [name for name, is_known in found if not is_known] == []
