"""The turn of ordered mail costs the same however many wait behind it."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store import claims as claims_store
from tests import make
from tests.mail.claim.steps import claim, sent

pytestmark = pytest.mark.anyio
WAITING = 20_000
TOUCHED = """
    SELECT coalesce(sum(pg_stat_get_xact_tuples_fetched(c.oid)
                        + pg_stat_get_xact_tuples_returned(c.oid)), 0)::bigint
      FROM pg_class AS c
     WHERE c.relnamespace = 'mailqueue'::regnamespace
       AND c.relname IN ('email_queue', 'email_order', 'email_order_place_key',
                         'email_queue_claim_idx')
"""
"""Rows and index entries that this transaction has read of ordered mail."""


async def ordered_by_customer(conn: Conn, count: int) -> None:
    order = '{"ordering": "custom_data.customer"}'
    await conn.execute(b"SELECT mailqueue.change_project('default', %s)", [order])
    await conn.execute(
        b"INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, custom_data)"
        b" SELECT 'p' || n || '@example.com', 's', 't', '{\"customer\": 7}'"
        b" FROM generate_series(1, %s) AS n",
        [count],
    )


async def test_a_turn_reads_few_rows_of_many_that_wait(
    conn: Conn, pytestconfig: pytest.Config
) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await ordered_by_customer(conn, WAITING * pytestconfig.getoption("--scale"))
    while await make.scalar(conn, "SELECT count(*) FROM mailqueue.order_signals"):
        await claims_store.gather_lanes(conn)
    await sent(conn, await claim(conn, worker))

    before = await make.scalar(conn, TOUCHED)
    for _ in range(5):
        emails = await claim(conn, worker)
        assert len(emails) == 1
        await sent(conn, emails)

    assert 5 < await make.scalar(conn, TOUCHED) - before < 5 * 60
