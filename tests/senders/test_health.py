"""Health of sender accounts: the circuit, recent failures, and fixes."""

import pytest

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.senders import health
from tests import make
from tests.mail.routing.test_circuits import fail

pytestmark = pytest.mark.anyio


async def test_health_says_what_failed_and_what_to_do(conn: Conn) -> None:
    account = await make.sender_account(conn, name="main")
    await fail(conn, account, 20)
    await claims_store.rest_sender(conn, account, "connection refused")

    said = await health.of_account(conn, "default", name="main")

    assert said.circuit == "open"
    assert said.circuit_since is not None
    assert said.next_probe_at is not None
    assert said.failures == {"infrastructure": 20, "unreachable": 1}
    assert said.last_errors[0] == "unreachable: connection refused"
    assert said.recent_domains == 20
    assert "last errors" in said.recommendation
    assert [one.sender for one in await health.of_all(conn, project="default")] == ["main"]


async def test_old_failures_are_not_kept(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await fail(conn, account, 5)
    await conn.execute("UPDATE mailqueue.sender_failures SET failed_at = now() - interval '25 h'")

    await fail(conn, account, 1200, domains=1)

    count = "SELECT count(*) FROM mailqueue.sender_failures"
    assert await make.scalar(conn, count) == 1000


async def test_an_account_that_is_not_there_has_no_health(conn: Conn) -> None:
    with pytest.raises(NotFound):
        await health.of_account(conn, "default", name="nobody")


async def test_a_suspended_account_is_told_how_to_come_back(conn: Conn) -> None:
    account = await make.sender_account(conn, name="main")
    await claims_store.suspend_sender(conn, account, "535 wrong password")

    said = await health.of_account(conn, "default", name="main")

    assert said.last_errors == ["account: 535 wrong password"]
    assert "mailqueue sender resume main" in said.recommendation
