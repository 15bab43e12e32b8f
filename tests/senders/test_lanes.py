"""Lanes and limits follow sender accounts that are added or removed, many in one statement too."""

import psycopg
import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.cost.case import ADDED_ACCOUNTS

pytestmark = pytest.mark.anyio
LANES = """
    SELECT priority, route, home_route, weight, account_limits, rule_id, pause_kind
      FROM mailqueue.lanes ORDER BY project_id, priority, route
"""
INDEXES = """
    SELECT indexrelid::regclass::text, coalesce(pg_get_expr(indpred, indrelid), 'true')
      FROM pg_index WHERE indrelid = 'mailqueue.lanes'::regclass
"""
WRITTEN = "SELECT xmin::text, ctid::text FROM mailqueue.lanes WHERE id = ANY (%s) ORDER BY id"


async def rows(conn: Conn, query: str, *parameters: object) -> list[tuple[object, ...]]:
    return await (await conn.execute(query.encode(), parameters)).fetchall()


@pytest.mark.parametrize("before", [0, 1, 3, 19, 30])
async def test_added_accounts_have_the_lanes_that_a_renewal_of_all_makes(
    conn: Conn, before: int
) -> None:
    await make.sender_account(conn, name="nowhere")
    await make.sender_account(conn, name="second")
    await conn.execute("SELECT mailqueue.pause_sending('campaign', 'default', 'summer')")
    await conn.execute("SELECT mailqueue.add_route('default', '{second}', 'news')")
    rule = await make.scalar(conn, "SELECT mailqueue.add_route('default', '{second}', 'bills')")
    await conn.execute("SELECT mailqueue.remove_route('default', %s)", (rule,))
    await conn.execute(ADDED_ACCOUNTS, ("before-", before))

    await conn.execute(ADDED_ACCOUNTS, ("one-", 1))
    await conn.execute(ADDED_ACCOUNTS, ("more-", 3))

    made = await rows(conn, LANES)
    await conn.execute("SELECT mailqueue.make_lanes(mailqueue.project_named('default'))")
    assert await rows(conn, LANES) == made


async def test_an_added_account_writes_no_lane_of_another(conn: Conn) -> None:
    await make.sender_account(conn, name="nowhere")
    await conn.execute(ADDED_ACCOUNTS, ("before-", 30))
    own = [
        one
        for (one,) in await rows(
            conn,
            "SELECT id FROM mailqueue.lanes WHERE coalesce(home_route, route) LIKE 'before-%%'",
        )
    ]
    before = await rows(conn, WRITTEN, own)

    await make.sender_account(conn, name="one more")

    assert len(own) == 4 * 30
    assert await rows(conn, WRITTEN, own) == before


async def test_accounts_that_are_deleted_leave_no_limit_and_no_lane(conn: Conn) -> None:
    kept = await make.sender_account(conn, name="kept")
    gone = [await make.sender_account(conn, name=f"gone-{n}") for n in range(2)]
    mail = await make.queued_email(conn, sender="gone-0")

    await conn.execute("DELETE FROM mailqueue.sender_accounts WHERE id = ANY (%s)", (gone,))

    limits = "SELECT id FROM mailqueue.limits WHERE sender_account_id = ANY (%s)"
    assert await rows(conn, limits, gone) == []
    named = "SELECT FROM mailqueue.lanes WHERE route LIKE 'gone-%%'"
    assert await rows(conn, named) == []
    candidates = """
        SELECT l.account_limits FROM mailqueue.email_queue AS q
          JOIN mailqueue.lanes AS l ON l.id = q.lane_id WHERE q.id = %s
    """
    limit = await make.scalar(
        conn, "SELECT id FROM mailqueue.limits WHERE sender_account_id = %s", kept
    )
    assert await make.scalar(conn, candidates, mail) == [limit], "its mail uses the others"


async def test_an_account_may_have_the_name_of_one_that_was_deleted(conn: Conn) -> None:
    first = await make.sender_account(conn, name="relay")
    await conn.execute("DELETE FROM mailqueue.sender_accounts WHERE id = %s", (first,))

    second = await make.sender_account(conn, name="relay")

    found = """
        SELECT DISTINCT l.account_limits = ARRAY[m.id]
          FROM mailqueue.lanes AS l, mailqueue.limits AS m
         WHERE l.route = 'relay' AND m.sender_account_id = %s
    """
    assert await rows(conn, found, second) == [(True,)]


async def test_a_lane_that_claims_write_is_in_its_keys_and_the_indexes_that_claims_read_alone(
    conn: Conn,
) -> None:
    """Each change of what claims read writes an entry of every index that has the lane."""
    await make.sender_account(conn, name="relay")
    await conn.execute("SELECT mailqueue.add_route('default', '{relay}', 'news')")

    has = {
        str(name).removeprefix("mailqueue."): await rows(
            conn, f"SELECT DISTINCT route FROM mailqueue.lanes WHERE {condition} ORDER BY route"
        )
        for name, condition in await rows(conn, INDEXES)
    }

    assert len(next(iter(has.values()))) == 4, "one each: any, test, relay, rule"
    assert {name for name, routes in has.items() if routes} == {
        "lanes_pkey",
        "lanes_project_id_priority_route_key",
        "lanes_blocked_idx",
    }


async def test_an_account_of_any_name_that_may_be_is_deleted(conn: Conn) -> None:
    account = await make.sender_account(conn, name="relay")
    await make.sender_account(conn, name=f"gone {account}")

    await conn.execute("DELETE FROM mailqueue.sender_accounts WHERE id = %s", (account,))

    kept = "SELECT count(*) FROM mailqueue.lanes WHERE route = %s AND rule_id IS NULL"
    assert await make.scalar(conn, kept, f"gone {account}") == 4


async def test_an_account_has_no_name_of_a_lane_of_a_rule(conn: Conn) -> None:
    account = await make.sender_account(conn, name="relay")
    refused = pytest.raises(psycopg.errors.InvalidParameterValue, match="name: must not be")
    with refused:
        async with conn.transaction():
            await make.sender_account(conn, name="rule 1")
    renamed = "UPDATE mailqueue.sender_accounts SET name = %s WHERE id = %s"
    with refused:
        async with conn.transaction():
            await conn.execute(renamed, ("rule 5", account))
    await conn.execute(renamed, ("rule 5 of mail", account))
