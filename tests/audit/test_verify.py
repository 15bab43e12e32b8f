"""The audit log is append-only, and a change by the owner of its table is found and named."""

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.audit.verify import verify
from mailqueue.core.errors import ConfigError, InvalidField
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.rotation import rotate
from tests import make
from tests.audit.sealed import add, by_owner, name_of, sealed, verified
from tests.conftest import Server
from tests.vault.sealed import FIRST, SECOND

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE mailqueue.audit_events SET actor = 'another'",
        "UPDATE mailqueue.audit_events SET detail = detail",
        "DELETE FROM mailqueue.audit_events",
        "TRUNCATE mailqueue.audit_events",
        "UPDATE mailqueue.audit_seals SET settled_id = 0",
        "DELETE FROM mailqueue.audit_seals",
        "TRUNCATE mailqueue.audit_seals",
        "TRUNCATE mailqueue.audit_keys",
    ],
)
async def test_the_owner_is_refused(conn: Conn, statement: str) -> None:
    await add(conn, "a limit")
    await sealed(conn)
    await conn.execute("SET LOCAL ROLE mailqueue_owner")

    with pytest.raises(errors.ObjectNotInPrerequisiteState):
        async with conn.transaction():
            await conn.execute(statement.encode())

    await conn.execute("RESET ROLE")
    found = await verified(conn)
    assert (found.sealed, found.waiting, found.faults) == (1, 0, [])


async def test_rows_are_sealed_once(conn: Conn) -> None:
    await add(conn, "one", "two")

    before = await verified(conn)
    first = await sealed(conn)
    again = await sealed(conn)
    await add(conn, "three")
    third = await sealed(conn)

    found = await verified(conn)
    assert (before.sealed, before.waiting, before.head) == (0, 2, None)
    assert [one.rows for one in (first, again, third)] == [2, 0, 1]
    assert (found.sealed, found.waiting, found.faults) == (3, 0, [])
    assert found.head is not None
    assert found.head.startswith("3:")


TAMPERING = {
    "the actor": "UPDATE mailqueue.audit_events SET actor = 'another' WHERE id = {id}",
    "the time": "UPDATE mailqueue.audit_events SET occurred_at = occurred_at - interval '1 us'"
    " WHERE id = {id}",
    "the project": "UPDATE mailqueue.audit_events"
    " SET project_id = (SELECT id FROM mailqueue.projects) WHERE id = {id}",
    "the subject": "UPDATE mailqueue.audit_events SET subject = 'x' WHERE id = {id}",
    "the detail": "UPDATE mailqueue.audit_events SET detail = '{{\"to\": 6}}' WHERE id = {id}",
    "what belongs to which column": "UPDATE mailqueue.audit_events"
    " SET action = 'limit', subject = '.changed' || subject WHERE id = {id}",
}


@pytest.mark.parametrize("statement", TAMPERING.values(), ids=TAMPERING.keys())
async def test_the_first_changed_row_is_named(conn: Conn, statement: str) -> None:
    ids = await add(conn, *(f"limit {n}" for n in range(5)))
    await sealed(conn)

    await by_owner(conn, statement.format(id=ids[3]), statement.format(id=ids[1]))

    found = await verified(conn)
    assert len(found.faults) == 2
    assert found.faults[0].startswith(f"row {ids[1]} (")
    assert found.faults[0].endswith("was changed since it was sealed")
    assert (await sealed(conn)).rows == 0, "a later run seals nothing anew"
    assert (await verified(conn)).faults == found.faults


async def test_a_deleted_row_is_named(conn: Conn) -> None:
    ids = await add(conn, "one", "two", "three")
    await sealed(conn)

    await by_owner(conn, f"DELETE FROM mailqueue.audit_events WHERE id = {ids[1]}")

    [fault] = (await verified(conn)).faults
    assert fault.startswith(f"row {ids[1]}, sealed at ")
    assert fault.endswith("was deleted")


async def test_a_row_deleted_with_its_seal_is_noticed(conn: Conn) -> None:
    ids = await add(conn, "one", "two", "three")
    await sealed(conn)

    await by_owner(
        conn,
        f"DELETE FROM mailqueue.audit_events WHERE id = {ids[1]}",
        f"DELETE FROM mailqueue.audit_seals WHERE event_id = {ids[1]}",
    )

    assert (await verified(conn)).faults == ["seals 2 to 2 are missing"]


async def test_seals_that_are_moved_up_after_a_deletion_do_not_fit(conn: Conn) -> None:
    ids = await add(conn, "one", "two", "three")
    await sealed(conn)

    await by_owner(
        conn,
        f"DELETE FROM mailqueue.audit_events WHERE id = {ids[1]}",
        f"DELETE FROM mailqueue.audit_seals WHERE event_id = {ids[1]}",
        "UPDATE mailqueue.audit_seals SET position = 2 WHERE position = 3",
    )

    assert (await verified(conn)).faults == [f"seal 2 (of row {ids[2]}) was changed"]


async def test_removed_newest_rows_are_noticed_by_a_head_noted_before(conn: Conn) -> None:
    ids = await add(conn, "one", "two", "three")
    await sealed(conn)
    head = (await verified(conn)).head
    await by_owner(
        conn,
        f"DELETE FROM mailqueue.audit_events WHERE id = {ids[2]}",
        f"DELETE FROM mailqueue.audit_seals WHERE event_id = {ids[2]}",
    )

    inside = await verified(conn)
    removed = await verified(conn, known_head=head)
    await add(conn, "another")
    await sealed(conn)
    replaced = await verified(conn, known_head=head)

    assert inside.faults == [], "nothing in the database shows it"
    assert removed.faults == ["the seals end at 2: those up to the head given are missing"]
    assert replaced.faults == ["seal 3 is another one than the head given"]
    assert (await verified(conn, known_head=inside.head)).faults == []


async def test_text_that_is_no_head_is_refused(conn: Conn) -> None:
    with pytest.raises(InvalidField):
        await verified(conn, known_head="3")


async def test_a_row_added_between_sealed_ones_is_named(conn: Conn) -> None:
    first, second = await add(conn, "one", "two")
    await by_owner(conn, f"DELETE FROM mailqueue.audit_events WHERE id = {first}")
    await sealed(conn)

    await by_owner(
        conn,
        "INSERT INTO mailqueue.audit_events (id, action, subject) OVERRIDING SYSTEM VALUE"
        f" VALUES ({first}, 'limit.changed', 'never')",
    )

    assert (await sealed(conn)).rows == 0
    [fault] = (await verified(conn)).faults
    assert fault.startswith(f"row {first} (")
    assert fault.endswith("was added between rows that were sealed before")
    assert second > first


async def test_a_key_of_the_owners_own_seals_nothing(conn: Conn) -> None:
    await add(conn, "one")
    await sealed(conn)
    await by_owner(conn, "UPDATE mailqueue.audit_keys SET wrapped = sha256('mine')")

    await add(conn, "two")
    with pytest.raises(ConfigError, match="does not open key"):
        await sealed(conn)
    assert "cannot be opened" in (await verified(conn)).faults[0]


async def test_a_transaction_that_commits_late_is_sealed_later(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, connect(database) as slow:
        async with slow.transaction():
            [late] = await add(slow, "late")
            ids = await add(conn, "early")
            before = await sealed(conn)
            during = await verified(conn)

        after = await sealed(conn)
        found = await verified(conn)
        await add(conn, "next")
        await sealed(conn)
        assert late < ids[0]
        assert (before.rows, during.faults) == (1, [])
        assert (after.rows, found.sealed, found.faults) == (1, 2, [])
        assert (await verified(conn)).faults == []


async def test_sealing_waits_for_no_writer_and_no_writer_for_it(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, connect(database) as other:
        for one in (conn, other):
            await one.execute("SET lock_timeout = '1s'")
        await add(conn, "one")
        async with conn.transaction():
            await sealed(conn)
            await add(other, "two")

        async with other.transaction():
            await add(other, "three")
            assert (await sealed(conn)).rows == 1
        assert (await sealed(conn)).rows == 1


async def test_a_new_master_key_seals_with_a_new_key_and_verifies_the_old_seals(
    conn: Conn,
) -> None:
    await add(conn, "one")
    await sealed(conn)

    done = await rotate(conn, SECOND, by="me")

    alone = type(SECOND)(SECOND.key)
    assert done.rewrapped == 1
    await sealed(conn, alone)
    found = await verified(conn, alone)
    assert (found.sealed, found.faults) == (2, []), "with the row of the rotation"
    assert await make.scalar(conn, "SELECT count(DISTINCT key_id) FROM mailqueue.audit_seals") == 2
    assert "cannot be opened" in (await verified(conn, FIRST)).faults[0]


async def test_without_a_master_key_nothing_is_verified(conn: Conn) -> None:
    assert (await verify(conn, None)).why_not == "no master key is set"


async def test_a_login_that_may_not_read_the_seals_is_told(server: Server, fresh_db: str) -> None:
    superuser = DatabaseSettings(Secret(server.superuser_url(name_of(fresh_db))))
    async with connect(superuser) as conn:
        await conn.execute("SET ROLE mailqueue_dba")

        found = await verified(conn)

    assert found.why_not == "this login may not read the seals of the audit log"


async def test_the_count_of_an_operation_is_sealed_again(conn: Conn) -> None:
    await make.queued_emails(conn, 3)
    asked = Jsonb({"project": "default"})
    operation = await make.scalar(
        conn, "SELECT mailqueue.begin_operation('hold', %s, '{\"reason\": \"r\"}', 'ann')", asked
    )
    await sealed(conn)
    await conn.execute("SELECT mailqueue.continue_operation(%s, NULL, 2)", (operation,))
    await conn.execute("SELECT mailqueue.continue_operation(%s, NULL, 2)", (operation,))

    before = await verified(conn)
    again = await sealed(conn)
    after = await verified(conn)

    assert (before.waiting, before.faults) == (1, [])
    assert (again.changes, again.refused) == (1, ())
    assert (after.waiting, after.changed, after.faults) == (0, 1, [])
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.audit_changes") == 0


async def test_a_listed_change_of_anything_else_is_not_sealed(conn: Conn) -> None:
    [row] = await add(conn, "limit of ann@example.com")
    await sealed(conn)

    for subject in ("limit of bob@example.com", "key of erased@erased.invalid"):
        await by_owner(
            conn,
            f"UPDATE mailqueue.audit_events SET subject = '{subject}' WHERE id = {row}",
            f"INSERT INTO mailqueue.audit_changes (event_id, reason) VALUES ({row}, 'erasure')",
        )
        before = await verified(conn)
        done = await sealed(conn)

        assert (done.changes, len(done.refused), len(before.faults)) == (0, 1, 1)
        assert (await verified(conn)).faults == before.faults
