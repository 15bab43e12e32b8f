"""`mailqueue bench` on a database in use leaves nothing behind and disturbs no mail."""

from typing import Any

import pytest

from mailqueue.contract.processes import Accepting, Sending
from mailqueue.db.fetch import Conn
from mailqueue.operations.bench import words
from tests import make
from tests.cli.support.invoked import Cli

TABLES = (
    "projects",
    "sender_accounts",
    "limits",
    "limit_counters",
    "limit_days",
    "lanes",
    "lane_signals",
    "accepted_days",
    "email_queue",
    "email_history",
    "email_contents",
    "email_events",
    "send_logs",
)


async def counts(conn: Conn) -> dict[str, int]:
    return {
        table: await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}")
        for table in TABLES
    }


def test_it_measures_and_leaves_nothing(on_fresh_db: Cli) -> None:
    before = on_fresh_db.sql(counts)

    found: dict[str, Any] = on_fresh_db.json("bench", "--count", "1000")

    assert found["sending"]["mails"] == 1000
    assert found["sending"]["per_second"] > 0
    assert found["accepting"]["batch_per_second"] > 0
    assert found["words"]
    assert on_fresh_db.sql(counts) == before


def test_it_refuses_while_mail_is_queued_and_leaves_that_alone(on_fresh_db: Cli) -> None:
    async def queue_one(conn: Conn) -> None:
        await make.sender_account(conn)
        await make.queued_email(conn)

    on_fresh_db.sql(queue_one)
    before = on_fresh_db.sql(counts)

    result = on_fresh_db("bench", "--count", "1000")

    assert result.exit_code == 1
    assert "1 email queued and 0 workers running" in result.stderr
    assert "--yes" in result.stderr
    assert on_fresh_db.sql(counts) == before


BUSY = Sending(1000, 5000.0, 150.0, 0.95)
WAITING = Sending(1000, 900.0, 150.0, 0.2)
NEAR = Accepting(0.1, 0.6, 9000.0)
FAR = Accepting(20.0, 21.0, 9000.0)
SLOW_DISK = Accepting(0.1, 12.0, 9000.0)


@pytest.mark.parametrize(
    ("accepting", "sending", "said"),
    [
        (NEAR, BUSY, "limited by the worker's CPU, 150 us per email"),
        (NEAR, WAITING, "waited 80% of the time"),
        (FAR, BUSY, "20.00 ms away"),
        (SLOW_DISK, BUSY, "most of it the disk"),
        (NEAR, BUSY, "the disk is not the limit"),
    ],
)
def test_it_says_in_words_what_bounds_the_rates(
    accepting: Accepting, sending: Sending, said: str
) -> None:
    assert said in " ".join(words(accepting, sending))
