"""Two processes finish one erasure: one erases, the other waits and reports the same result."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.tasks import open_context
from mailqueue.privacy import erasing, persons, store
from mailqueue.privacy.lease import ErasureLease
from mailqueue.privacy.model import ErasureStage
from mailqueue.privacy.unfinished import finish_all
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.privacy.erasing import sent
from tests.privacy.planted_rows import ANN

pytestmark = pytest.mark.anyio


@pytest.fixture
async def other(
    desk: MaintenanceContext, database: DatabaseSettings
) -> AsyncIterator[MaintenanceContext]:
    """The maintenance context of another process, with the same stores."""
    opened = open_context(database, desk.stores, operator="other", advance=lambda _: None)
    async with opened as found:
        yield found


async def begun(desk: MaintenanceContext) -> UUID:
    for _ in range(3):
        await sent(desk.conn)
    project_id = await make.project_named(desk.conn)
    lend = persons.lending(desk.conn)
    return await erasing.begin(lend, project_id, persons.spellings_of(ANN), by="tests")


async def audited(desk: MaintenanceContext) -> object:
    query = "SELECT count(*) FROM mailqueue.audit_events WHERE action = 'person.erased'"
    return await make.scalar(desk.conn, query)


async def test_two_at_once_come_to_one_end_and_both_say_so(
    desk: MaintenanceContext, other: MaintenanceContext
) -> None:
    erasure = await begun(desk)

    async with asyncio.timeout(120):
        done = await asyncio.gather(
            *(
                erasing.go_on(persons.lending(one.conn), erasure, context=one, by="tests")
                for one in (desk, other)
            )
        )

    assert [one.is_done for one in done] == [True, True]
    assert await audited(desk) == 1
    assert await make.scalar(desk.conn, "SELECT count(*) FROM mailqueue.leases") == 0


async def test_one_that_does_not_join_leaves_it_to_the_other(
    desk: MaintenanceContext, other: MaintenanceContext
) -> None:
    erasure = await begun(desk)
    tenure = ErasureLease(persons.lending(other.conn), erasure)
    async with tenure.lend():
        pass

    (left,) = await finish_all(desk, by="tests", joins=False)
    assert (left.is_done, left.is_elsewhere) == (False, True)

    await tenure.end()
    (done,) = await finish_all(desk, by="tests", joins=False)
    assert done.is_done


async def test_what_a_process_that_died_left_is_done_by_the_next(
    desk: MaintenanceContext, database: DatabaseSettings
) -> None:
    erasure = await begun(desk)
    opened = open_context(database, desk.stores, operator="dying", advance=lambda _: None)
    async with opened as dying, ErasureLease(persons.lending(dying.conn), erasure).lend():
        pass

    async with asyncio.timeout(60):
        done = await erasing.go_on(persons.lending(desk.conn), erasure, context=desk, by="tests")

    assert done.is_done


async def test_one_that_was_passed_in_the_middle_joins_the_other(
    desk: MaintenanceContext, other: MaintenanceContext
) -> None:
    """Frozen for longer than its lease, it resumes when all is done."""
    erasure = await begun(desk)

    lend = persons.lending(desk.conn)
    late = ErasureLease(lend, erasure)
    async with late.lend() as conn:
        before = await erasing.get(conn, erasure)
    await other.conn.execute("UPDATE mailqueue.leases SET lease_until = clock_timestamp()")
    done = await erasing.go_on(persons.lending(other.conn), erasure, context=other, by="tests")
    assert done.is_done

    async with lend() as conn:  # what a release without leases would still write
        await store.move(conn, erasure, ErasureStage.TABLES, before.place, by="tests")
        await store.move(conn, erasure, ErasureStage.DONE, {}, by="tests")

    assert (await erasing.go_on(lend, erasure, context=desk, by="tests")).is_done
    assert await audited(desk) == 1
