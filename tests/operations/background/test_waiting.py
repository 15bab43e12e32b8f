"""Operations wait for mail that others have locked, and not for those of keys of another mode."""

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.operations.background.steps import begun, begun_as, found, subjects, worked

pytestmark = pytest.mark.anyio


async def test_mail_that_another_transaction_has_locked_is_waited_for(
    database: DatabaseSettings,
) -> None:
    """Although it is the only one that matches, so that no pass has changed anything yet."""
    async with connect(database) as conn, connect(database) as busy:
        email = await make.queued_email(conn, subject="Spring")
        operation = await begun(conn)
        async with busy.transaction():
            await busy.execute(
                "SELECT FROM mailqueue.email_queue WHERE id = %s FOR UPDATE", (email,)
            )
            await worked(database)
            meanwhile = await found(conn, operation)
        for _ in range(2):
            await conn.execute("UPDATE mailqueue.bulk_operations SET run_at = now()")
            await worked(database)

        done = await found(conn, operation)
        assert (meanwhile.state, meanwhile.emails, meanwhile.passes) == ("running", 0, 3)
        assert (done.state, done.emails) == ("done", 1)
        assert await subjects(conn, "held") == ["Spring"]


async def test_mail_that_stays_locked_holds_up_an_operation_for_a_few_passes(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, connect(database) as busy:
        email = await make.queued_email(conn, subject="Spring")
        operation = await begun(conn)
        async with busy.transaction():
            await busy.execute(
                "SELECT FROM mailqueue.email_queue WHERE id = %s FOR UPDATE", (email,)
            )
            turns = 0
            while (await found(conn, operation)).finished_at is None:
                await conn.execute("UPDATE mailqueue.bulk_operations SET run_at = now()")
                await worked(database)
                turns += 1

        done = await found(conn, operation)
        assert (turns, done.state, done.emails, done.passes) == (4, "done", 0, 5)


async def test_operations_of_test_keys_hold_up_none_of_live_keys(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        test, live = await begun_as(conn, "test"), await begun_as(conn, "live")
        both, after = await begun(conn), await begun_as(conn, "test")
        await conn.execute(
            "UPDATE mailqueue.bulk_operations SET run_at = now() + interval '1 min' WHERE id = %s",
            (test.id,),
        )
        await worked(database)

        states = [(await found(conn, each)).state for each in (test, live, both, after)]
        assert states == ["waiting", "done", "waiting", "waiting"]
