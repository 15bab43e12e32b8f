"""What a run of a schedule would come to, before it makes any mail."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people
from tests.schedules import turning

pytestmark = pytest.mark.anyio
LATER = (datetime.now(UTC) + timedelta(days=1)).isoformat()


async def _to(conn: Conn, to: list[str], **payload: str) -> UUID:
    given = turning.RAW | {"to": to} | payload
    return await turning.put(conn, schedule_type="once", run_at=LATER, payload=given)


async def _estimate(conn: Conn, schedule_id: UUID, columns: str) -> tuple[object, ...]:
    project = await make.project_named(conn)
    query = f"SELECT {columns} FROM mailqueue.estimate_schedule(%s, %s)"
    (found,) = await make.rows(conn, query, project, schedule_id)
    return found


async def test_it_compares_a_run_with_the_daily_limit_of_the_project(conn: Conn) -> None:
    made = await _to(conn, [f"n{n}@example.com" for n in range(25)])
    columns = "recipients, daily_limit, headroom, days"
    assert await _estimate(conn, made, columns) == (25, None, None, None)

    limit = "UPDATE mailqueue.limits SET daily_limit = 10 WHERE project_id = %s RETURNING 1"
    assert await make.rows(conn, limit, await make.project_named(conn))
    assert await _estimate(conn, made, columns) == (25, 10, 10, 3)
    assert await turning.queued(conn) == 0


async def test_it_compares_a_run_with_the_daily_limits_of_the_accounts_together(conn: Conn) -> None:
    await make.sender_account(conn, name="one", daily_limit=4)
    await make.sender_account(conn, name="two", daily_limit=6)
    away = await make.sender_account(conn, name="away", daily_limit=100)
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE id = %s", [away]
    )
    made = await _to(conn, [f"n{n}@example.com" for n in range(25)])
    of_one = await _to(conn, [f"n{n}@example.com" for n in range(25)], sender="two")
    columns = "daily_limit, headroom, days"
    assert await _estimate(conn, made, columns) == (10, 10, 3)
    assert await _estimate(conn, of_one, columns) == (6, 6, 5)

    limit = """
        UPDATE mailqueue.limits SET daily_limit = 5
         WHERE project_id = %s AND sender_account_id IS NULL RETURNING 1
    """
    assert await make.rows(conn, limit, await make.project_named(conn))
    assert await _estimate(conn, made, columns) == (5, 5, 5)

    await make.sender_account(conn, name="three")
    await conn.execute(
        "UPDATE mailqueue.limits SET daily_limit = NULL WHERE sender_account_id IS NULL"
    )
    assert await _estimate(conn, made, columns) == (None, None, None)


async def test_large_daily_limits_of_accounts_are_together_at_most_the_largest_integer(
    conn: Conn,
) -> None:
    for name in ("one", "two"):
        await make.sender_account(conn, name=name, daily_limit=2_000_000_000)
    made = await _to(conn, ["ann@example.com"])

    found = await _estimate(conn, made, "daily_limit, headroom, days")

    assert found == (2_147_483_647, 4_000_000_000, 1)


async def test_a_recipient_of_several_lists_counts_once(conn: Conn) -> None:
    project = await make.project_named(conn)
    emails = ("ann@example.com", "bob@example.com", "cleo@example.com")
    ids = await people.added(conn, project, *emails)
    await people.list_of(conn, project, "news", members=ids[:2])
    await people.list_of(conn, project, "tips", members=ids[1:])
    made = await _to(conn, ["ANN@example.com", "dan@example.com", "news", "tips"])

    assert await _estimate(conn, made, "recipients, is_complete, checked") == (4, True, 4)
    await turning.due(conn, made)
    await turning.turn(conn)
    await turning.make_runs(conn)
    assert await turning.queued(conn) == 4, "as many as the run makes"


async def test_those_that_are_suppressed_in_its_category_are_told(conn: Conn) -> None:
    project = await make.project_named(conn)
    given = {"project_id": project, "reason": "unsubscribed", "category": "marketing"}
    await make.inserted(conn, "suppressions", {"address": "ann@example.com"} | given)
    await conn.execute("UPDATE mailqueue.projects SET require_postal_address = false")
    to = ["ann@example.com", "bob@example.com"]

    offer = await _to(conn, to, category="marketing")
    invoice = await _to(conn, to)
    assert await _estimate(conn, offer, "recipients, suppressed") == (2, 1)
    assert await _estimate(conn, invoice, "recipients, suppressed") == (2, 0)
