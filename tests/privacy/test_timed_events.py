"""Timed events of an erased person do not fire, whether a worker has them already or not."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.maintenance.context import MaintenanceContext
from tests import make
from tests.privacy.erasing import erased
from tests.timed_events import events
from tests.webhooks.delivering import webhook

pytestmark = pytest.mark.anyio


async def put(conn: Conn, **fields: object) -> UUID:
    """Put an event that is due now; return its id."""
    given: dict[str, object] = {"template": "welcome", **fields}
    named = "".join(f", {name} => %s" for name in given)
    query = f"SELECT mailqueue.put_timed_event('renewal', now(){named})"
    found: UUID = await make.scalar(conn, query, *given.values())
    return found


async def ends(conn: Conn) -> list[tuple[object, ...]]:
    query = "SELECT recipient, status, last_error FROM mailqueue.timed_events ORDER BY id"
    return await make.rows(conn, query)


async def written(conn: Conn) -> int:
    """Return the number of mails and webhook calls that events made."""
    calls = await make.scalar(conn, "SELECT count(*) FROM mailqueue.webhook_deliveries")
    return await events.mails(conn) + int(calls)


@pytest.mark.parametrize("is_claimed", [False, True])
async def test_an_event_whose_recipient_was_erased_is_cancelled(
    desk: MaintenanceContext, *, is_claimed: bool
) -> None:
    await events.template(desk.conn)
    await put(desk.conn, recipient="Ann <ann@example.com>")
    await put(desk.conn, recipient="bob@example.com")
    claimed = await events.claim(desk.conn) if is_claimed else []

    await erased(desk)
    await events.settle(desk.conn, claimed)
    await events.fire(desk.conn)

    gone, kept = await ends(desk.conn)
    assert "ann@" not in str(gone)
    assert gone[1:] == ("cancelled", "the recipient was erased")
    assert kept == ("bob@example.com", "completed", None)
    assert await written(desk.conn) == 1


@pytest.mark.parametrize("is_claimed", [False, True])
async def test_events_of_a_contact_that_was_erased_are_gone(
    desk: MaintenanceContext, *, is_claimed: bool
) -> None:
    await events.template(desk.conn)
    await events.birthdays(desk.conn)
    ann = await events.contact(desk.conn, date_of_birth="1988-02-29")
    called = await webhook(desk.conn, "http://127.0.0.1:8090/")
    await put(desk.conn, contact_id=ann)
    await put(desk.conn, contact_id=ann, template=None, webhook_id=called, idempotency_key="call")
    await events.make_due(desk.conn)
    assert len(await ends(desk.conn)) == 3
    claimed = await events.claim(desk.conn) if is_claimed else []

    await erased(desk)
    await events.settle(desk.conn, claimed)
    await events.fire(desk.conn)

    assert await ends(desk.conn) == []
    assert await written(desk.conn) == 0


async def test_an_event_of_a_contact_without_its_address_is_cancelled(
    desk: MaintenanceContext,
) -> None:
    await events.template(desk.conn)
    ann = await events.contact(desk.conn)
    called = await webhook(desk.conn, "http://127.0.0.1:8090/")
    await put(desk.conn, contact_id=ann)
    await put(desk.conn, contact_id=ann, template=None, webhook_id=called, idempotency_key="call")
    await desk.conn.execute(
        "UPDATE mailqueue.contacts SET email = 'erased@erased.invalid',"
        " email_key = 'erased@erased.invalid' WHERE id = %s",
        (ann,),
    )

    await events.fire(desk.conn)

    assert await ends(desk.conn) == [(None, "cancelled", "the recipient was erased")] * 2
    assert await written(desk.conn) == 0
