"""All mail of a locked project waits with the reason, and is sent after it is unlocked."""

from datetime import timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.vault import ownkey
from tests import make
from tests.vault.sealed import FIRST, secrets
from tests.vault.test_ownkey import HOUR, OWN, time_is_over

pytestmark = pytest.mark.anyio


async def mail(conn: Conn, project: str) -> UUID:
    return await make.queued_email(conn, project=project)


async def claimed(conn: Conn, worker: int) -> list[UUID]:
    return [email_id for email_id, _ in await make.claimed(conn, worker)]


async def why(conn: Conn, email_id: UUID) -> str:
    found: str = await make.scalar(conn, "SELECT mailqueue.why(%s)", email_id)
    return found


async def lanes(conn: Conn, project_id: UUID) -> set[tuple[object, ...]]:
    return set(
        await make.rows(
            conn,
            "SELECT blocked_reason, blocked_until = 'infinity' FROM mailqueue.lanes"
            " WHERE project_id = %s AND blocked_reason <> 'empty'",
            project_id,
        )
    )


async def test_mail_of_a_locked_project_waits_and_others_do_not(conn: Conn) -> None:
    shop, _ = await secrets(conn, "shop"), await secrets(conn, "blog")
    await ownkey.set_own(conn, "shop", own=OWN, master=FIRST, by="me")
    waiting, going = await mail(conn, "shop"), await mail(conn, "blog")
    worker = await make.worker(conn)

    assert await claimed(conn, worker) == [going]

    assert await lanes(conn, shop.project_id) == {("locked", True)}
    assert await why(conn, waiting) == (
        "the project waits until further notice: its secrets are locked by its own key; "
        "to unlock it: mailqueue vault byok unlock shop --for DURATION"
    )
    said = "SELECT reason FROM mailqueue.queue_blocked WHERE project = 'shop'"
    assert await make.scalar(conn, said) == "the project's secrets are locked by its own key"


async def test_unlocking_lets_it_go_and_the_end_of_the_time_stops_it(conn: Conn) -> None:
    shop = await secrets(conn, "shop")
    await ownkey.set_own(conn, "shop", own=OWN, master=FIRST, by="me")
    first, worker = await mail(conn, "shop"), await make.worker(conn)
    assert await claimed(conn, worker) == []

    await ownkey.unlock(conn, "shop", own=OWN, master=FIRST, lasts=HOUR, by="me")
    assert await claimed(conn, worker) == [first]

    second = await mail(conn, "shop")
    await time_is_over(conn, shop.project_id)
    assert await claimed(conn, worker) == []
    assert "locked by its own key" in await why(conn, second)

    await ownkey.release(conn, "shop", own=OWN, master=FIRST, by="me")
    assert await claimed(conn, worker) == [second]


async def test_claims_stop_at_the_end_without_any_process(conn: Conn) -> None:
    """Neither cron nor a worker is needed: the claim compares the time."""
    shop = await secrets(conn, "shop")
    await ownkey.set_own(conn, "shop", own=OWN, master=FIRST, unlock_for=HOUR, by="me")
    limit = await make.scalar(
        conn,
        "SELECT id FROM mailqueue.limits WHERE project_id = %s AND sender_account_id IS NULL",
        shop.project_id,
    )

    async def reason_after(wait: timedelta) -> object:
        query = "SELECT why FROM mailqueue.headroom(ARRAY[%s], clock_timestamp() + %s)"
        return await make.scalar(conn, query, limit, wait)

    assert await reason_after(timedelta(minutes=59)) is None
    assert await reason_after(timedelta(minutes=61)) == "locked"


async def test_an_account_that_rested_for_want_of_its_password_is_used_at_once(conn: Conn) -> None:
    """A worker that opened it right after the time ended treated it as unreachable."""
    shop = await secrets(conn, "shop", passwords=1)
    await ownkey.set_own(conn, "shop", own=OWN, master=FIRST, by="me")
    first, worker = await mail(conn, "shop"), await make.worker(conn)
    for _ in range(2):
        await make.scalar(
            conn, "SELECT mailqueue.rest_sender(%s, 'locked')::text", next(iter(shop.passwords))
        )

    await ownkey.unlock(conn, "shop", own=OWN, master=FIRST, lasts=HOUR, by="me")

    assert await claimed(conn, worker) == [first]


async def test_a_pause_and_a_lock_do_not_lift_each_other(conn: Conn) -> None:
    await secrets(conn, "shop")
    await ownkey.set_own(conn, "shop", own=OWN, master=FIRST, by="me")
    await mail(conn, "shop")
    worker = await make.worker(conn)
    await conn.execute("UPDATE mailqueue.projects SET status = 'paused' WHERE name = 'shop'")
    await ownkey.unlock(conn, "shop", own=OWN, master=FIRST, lasts=HOUR, by="me")

    assert await claimed(conn, worker) == []
    await conn.execute("UPDATE mailqueue.projects SET status = 'active' WHERE name = 'shop'")
    assert len(await claimed(conn, worker)) == 1

    await mail(conn, "shop")
    await ownkey.lock(conn, "shop", by="me")
    await conn.execute("UPDATE mailqueue.projects SET daily_limit = 1000 WHERE name = 'shop'")
    assert await claimed(conn, worker) == []
