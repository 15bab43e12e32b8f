"""Isolate: a mail whose every change is refused stops no other: neither claims nor rescue."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.send.claims import Claims
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.refusing import accept_changes, refuse_changes
from tests.mail.claim.steps import LEASE, lose, mark

pytestmark = pytest.mark.anyio


@pytest.fixture
async def conn(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """Without a transaction around all, as workers have it."""
    async with connect(database) as conn:
        yield conn


async def worker(conn: Conn, limit: int = 100) -> Claims:
    """Return the claims of a worker."""
    return Claims(await make.worker(conn), limit=limit, lease=LEASE)


async def take(conn: Conn, claims: Claims) -> set[object]:
    """Wake lanes and claim as a send worker does; return the ids."""
    await claims_store.gather_lanes(conn)
    taken = await claims.take(conn, avoid=[])
    return {email.id for email in taken.emails}


async def test_the_others_are_claimed(conn: Conn) -> None:
    await make.sender_account(conn)
    refused, *others = await make.queued_emails(conn, 5)
    await refuse_changes(conn, "email_queue", [refused])
    claims = await worker(conn)
    assert await take(conn, claims) == set(others)
    assert await make.status_of(conn, refused) == "pending"
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", refused)
    assert why.startswith("not sent: a trigger or a constraint of this database refuses its change")

    # Its lane is not looked at before; then it is refused again, and other mail goes on.
    assert await take(conn, claims) == set()
    later = await make.queued_email(conn)
    assert await take(conn, claims) == {later}
    await conn.execute("UPDATE mailqueue.refused_rows SET retry_at = now()")
    await conn.execute("UPDATE mailqueue.lanes SET probed_at = '-infinity'")  # once a second
    last = await make.queued_email(conn)
    assert await take(conn, claims) == {last}
    assert await make.scalar(conn, "SELECT refusals FROM mailqueue.refused_rows") == 2


async def test_it_is_sent_once_it_may_change(conn: Conn) -> None:
    """Nothing else wakes its lane."""
    await make.sender_account(conn)
    refused = await make.queued_email(conn)
    await refuse_changes(conn, "email_queue", [refused])
    claims = await worker(conn)
    assert await take(conn, claims) == set()
    await accept_changes(conn, "email_queue")
    await conn.execute("UPDATE mailqueue.lane_signals SET due_at = now()")
    assert await take(conn, claims) == {refused}


async def test_more_of_them_than_a_claim_takes(conn: Conn) -> None:
    await make.sender_account(conn)
    refused = await make.queued_emails(conn, 40)
    others = await make.queued_emails(conn, 3)
    await refuse_changes(conn, "email_queue", refused)
    claims, taken = await worker(conn, limit=10), set[object]()
    for _ in range(5):
        taken |= await take(conn, claims)
        await conn.execute(
            "UPDATE mailqueue.lanes SET blocked_until = now(), blocked_reason = 'recheck'"
        )
    assert taken == set(others)


async def test_a_suspect_is_left_out(conn: Conn) -> None:
    await make.sender_account(conn)
    refused, other = await make.queued_emails(conn, 2)
    await conn.execute("UPDATE mailqueue.email_queue SET crashes = 1")
    await refuse_changes(conn, "email_queue", [refused])
    claims = await worker(conn)
    await claims_store.gather_lanes(conn)
    taken = await claims.take_suspect(conn)
    assert [email.id for email in taken.emails] == [other]
    assert await kernel.suspected(conn, ["email_queue"]) == []


@pytest.mark.parametrize("is_marked", [False, True])
async def test_mail_of_a_lost_worker_returns_but_it(conn: Conn, is_marked: bool) -> None:
    await make.sender_account(conn)
    refused, *others = await make.queued_emails(conn, 3)
    lost = await make.worker(conn)
    await claims_store.gather_lanes(conn)
    emails = await claims_store.claim(conn, lost, limit=10, lease=LEASE)
    if is_marked:
        await mark(conn, lost, emails)
    await refuse_changes(conn, "email_queue", [refused])
    await lose(conn, lost)
    states = {one: await make.status_of(conn, one) for one in (refused, *others)}
    assert states.pop(refused) == "assigned"
    assert set(states.values()) <= {"pending", "held"}

    # Whether it was marked is not known any more: it counts as sent perhaps.
    await accept_changes(conn, "email_queue")
    await lose(conn, lost)
    query = "SELECT status <> 'assigned', unknowns FROM mailqueue.email_queue WHERE id = %s"
    assert await make.rows(conn, query, refused) == [(True, 1)]
