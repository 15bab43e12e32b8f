"""Dangerous statements on the queue are warned of or refused, with the right command."""

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.claim.steps import claim, settle

pytestmark = pytest.mark.anyio

LOSES = (
    "DELETE FROM mailqueue.email_queue",
    "DELETE FROM mailqueue.email_queue WHERE status = 'held'",
    "UPDATE mailqueue.email_queue SET worker_id = NULL, claim_no = NULL, status = 'pending'",
    "UPDATE mailqueue.email_queue SET lane_id = 1",
    "WITH gone AS (DELETE FROM mailqueue.email_queue RETURNING id) SELECT count(*) FROM gone",
)
EMPTIES = (
    "TRUNCATE mailqueue.email_queue",
    "TRUNCATE mailqueue.suppressions",
    "TRUNCATE mailqueue.projects CASCADE",
)
HARMLESS = (
    "UPDATE mailqueue.email_queue SET run_at = now() + interval '1 h' WHERE status = 'pending'",
    "UPDATE mailqueue.email_queue SET expires_at = now() + interval '9 d'",
    "UPDATE mailqueue.email_queue SET max_attempts = 3",
)


@pytest.fixture
async def queue(conn: Conn) -> Conn:
    await make.sender_account(conn)
    await make.queued_emails(conn, 2)
    return conn


@pytest.fixture
def warnings(queue: Conn) -> list[str]:
    """Collect the server's notices, with hints."""
    said: list[str] = []
    queue.add_notice_handler(lambda one: said.append(f"{one.message_primary} {one.message_hint}"))
    return said


@pytest.mark.parametrize("statement", LOSES)
async def test_what_loses_mail_is_done_with_a_warning_that_names_the_way_out(
    queue: Conn, warnings: list[str], statement: str
) -> None:
    await queue.execute(statement.encode())

    (said,) = warnings
    assert "on email_queue loses mail" in said
    assert "mailqueue email --help" in said


@pytest.mark.parametrize("statement", EMPTIES)
async def test_what_empties_a_table_is_refused_and_the_way_out_named(
    queue: Conn, statement: str
) -> None:
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="would lose") as info:
        await queue.execute(statement.encode())

    assert "SET mailqueue.by_hand = on" in str(info.value.diag.message_hint)


@pytest.mark.parametrize("statement", [*LOSES[:3], EMPTIES[0]])
async def test_who_knows_better_may(queue: Conn, warnings: list[str], statement: str) -> None:
    await make.by_hand(queue)

    await queue.execute(statement.encode())

    assert warnings == []


@pytest.mark.parametrize("statement", HARMLESS)
async def test_what_is_safe_by_hand_goes_through(queue: Conn, statement: str) -> None:
    await queue.execute(statement.encode())


async def test_the_products_own_functions_are_not_hindered(queue: Conn) -> None:
    worker = await make.worker(queue)

    await settle(queue, await claim(queue, worker, limit=1))
    await queue.execute('SELECT mailqueue.cancel_matching(\'{"project": "default"}\')')

    assert await make.rows(
        queue, "SELECT status, count(*) FROM mailqueue.emails GROUP BY status ORDER BY status"
    ) == [("cancelled", 1), ("sent", 1)]
