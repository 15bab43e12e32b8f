"""Canaries: small emails at an interval, and what tells of their absence."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.outcome import Again
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations import canaries
from mailqueue.operations.canaries import CanaryHandler, ClaimedCanary
from mailqueue.settings.environment import DatabaseSettings
from tests import make

pytestmark = pytest.mark.anyio
MINUTE = timedelta(minutes=1)


async def _set(conn: Conn, *, every: timedelta = MINUTE, **account: Any) -> UUID:
    """Set a canary of a project of its own; return its id."""
    project_id = await make.project(conn, "canary")
    await make.sender_account(conn, project_id=project_id, name="relay", **account)
    return await _put(conn, every=every)


async def _put(conn: Conn, *, every: timedelta = MINUTE) -> UUID:
    await canaries.put(
        conn, "canary", "relay", recipient="ops@example.com", every=every, by="tests"
    )
    found: UUID = await make.scalar(conn, "SELECT id FROM mailqueue.canaries")
    return found


async def _send(conn: Conn, *ids: UUID) -> Sequence[Any]:
    """Do what a worker commits for rows that it has claimed."""
    return await CanaryHandler().commit(conn, [(ClaimedCanary(one, 1), None) for one in ids])


async def _queued(conn: Conn) -> int:
    found: int = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
    return found


async def _finish(conn: Conn, *, status: str = "sent", ago: timedelta = timedelta(0)) -> None:
    """Move the newest email of the canary to history."""
    await conn.execute(
        "INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status,"
        " priority, attempts, max_attempts, created_at, recipients, unknowns, delivery, category,"
        " expires_at, recipient_email, content_id, content_on)"
        " SELECT q.id, now() - %s, q.project_id, q.lane_id, %s, q.priority, 1, q.max_attempts,"
        " q.created_at, q.recipients, 0, q.delivery, q.category, q.expires_at, q.recipient_email,"
        " q.content_id, q.content_on FROM mailqueue.email_queue AS q"
        " WHERE q.id = (SELECT email_ids[1] FROM mailqueue.canaries)",
        (ago, status),
    )
    await conn.execute("UPDATE mailqueue.canaries SET created_at = now() - interval '1 day'")


async def _check(conn: Conn) -> tuple[str, str]:
    found = await make.rows(
        conn, "SELECT state, found FROM mailqueue.health WHERE name = 'canaries'"
    )
    return found[0]


async def _gauges(conn: Conn) -> dict[tuple[str, ...], float]:
    query = (
        "SELECT name, labels, value FROM mailqueue.gauges() WHERE name LIKE 'mailqueue_canary%%'"
    )
    return {(row[0], *row[1]): row[2] for row in await make.rows(conn, query)}


async def test_a_canary_queues_an_email_of_its_account_that_expires_soon(conn: Conn) -> None:
    canary = await _set(conn)

    (outcome,) = await _send(conn, canary)

    assert isinstance(outcome, Again)
    assert outcome.reason is None
    (mail,) = await make.rows(
        conn,
        "SELECT q.category, q.tags, q.recipient_email, q.expires_at <= now() + interval '2 min',"
        " a.name FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l ON l.id = q.lane_id"
        " JOIN mailqueue.limits AS m ON m.id = ANY (l.account_limits)"
        " JOIN mailqueue.sender_accounts AS a ON a.id = m.sender_account_id",
    )
    assert mail == ("canary", ["canary"], "ops@example.com", True, "relay")
    (found,) = await canaries.list_all(conn)
    assert found.newest_email is not None
    assert found.emails_per_day == 1440


async def test_an_interval_has_one_email_however_often_it_is_handled(conn: Conn) -> None:
    canary = await _set(conn, every=timedelta(days=1))

    outcomes = [one for _ in range(3) for one in await _send(conn, canary)]

    # Midnight may lie between two of them, not between each two.
    intervals = len({one.at for one in outcomes})
    assert intervals < 3
    assert await _queued(conn) == intervals
    found = await make.scalar(conn, "SELECT cardinality(email_ids) FROM mailqueue.canaries")
    assert found == intervals
    assert [one.reason for one in outcomes] == [None] * 3


@pytest.mark.parametrize(
    "given", [{"recipient": "others@example.com"}, {"every": timedelta(hours=12)}]
)
async def test_a_canary_that_was_changed_has_an_email_at_once(
    database: DatabaseSettings, given: dict[str, Any]
) -> None:
    async with connect(database) as conn:
        canary = await _set(conn, every=timedelta(days=1))
        await _send(conn, canary)
        asked: dict[str, Any] = {"recipient": "ops@example.com", "every": timedelta(days=1)}
        await canaries.put(conn, "canary", "relay", **(asked | given), by="tests")

        (outcome,) = await _send(conn, canary)

        assert outcome.reason is None
        assert await _queued(conn) == 2


async def test_what_was_missed_is_not_made_up_for(conn: Conn) -> None:
    canary = await _set(conn)
    await conn.execute("UPDATE mailqueue.canaries SET run_at = now() - interval '3 h'")

    (outcome,) = await _send(conn, canary)

    assert outcome.at is not None
    is_next = "SELECT %s > clock_timestamp() - interval '1 min'"
    assert await make.scalar(conn, is_next, outcome.at)
    assert await _queued(conn) == 1


async def test_an_email_that_is_not_accepted_says_why_and_the_next_one_is_tried(conn: Conn) -> None:
    canary = await _set(conn)
    await conn.execute(
        "UPDATE mailqueue.projects SET status = 'suspended', deleted_at = now()"
        " WHERE name = 'canary'"
    )

    (outcome,) = await _send(conn, canary)

    assert isinstance(outcome, Again)
    assert outcome.reason == 'project: project "canary" is deleted'
    assert await _queued(conn) == 0


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("sender", {"sender": "other"}),
        ("project", {"project": "other"}),
        ("recipient", {"recipient": "ops"}),
        ("recipient", {"recipient": "ops\x00@example.com"}),
        ("every", {"every": timedelta(seconds=59)}),
        ("every", {"every": timedelta(seconds=90)}),
        ("every", {"every": timedelta(days=2)}),
    ],
)
async def test_what_cannot_be_a_canary_is_refused_by_its_field(
    conn: Conn, field: str, given: dict[str, Any]
) -> None:
    await _set(conn)
    asked: dict[str, Any] = {
        "project": "canary",
        "sender": "relay",
        "recipient": "ops@example.com",
        "every": MINUTE,
    }

    with pytest.raises(InvalidField) as caught:
        await canaries.put(conn, **(asked | given), by="tests")

    assert caught.value.field == field


async def test_the_trap_is_no_canary(conn: Conn) -> None:
    with pytest.raises(InvalidField, match="mail trap"):
        await canaries.put(
            conn, "default", "trap", recipient="ops@example.com", every=MINUTE, by="tests"
        )


async def test_a_canary_of_another_project_is_not_removed(conn: Conn) -> None:
    await _set(conn)
    with pytest.raises(NotFound):
        await canaries.remove(conn, "default", "relay", by="tests")

    await canaries.remove(conn, "canary", "relay", by="tests")

    assert await canaries.list_all(conn) == []


async def test_emails_that_are_sent_are_well(conn: Conn) -> None:
    await _send(conn, await _set(conn))
    await _finish(conn, ago=timedelta(minutes=3))

    assert await _check(conn) == ("ok", "1 sender accounts send theirs")
    found = await _gauges(conn)
    assert found["mailqueue_canary_late", "smtp", "sent"] == 0
    assert 180 <= found["mailqueue_canary_age_seconds", "smtp", "sent"] < 1e6
    assert not [labels for labels in found if labels[2] == "delivered"]


@pytest.mark.parametrize(("status", "ago"), [("sent", 5), ("failed", 0)])
async def test_the_absence_of_sent_emails_is_an_alarm(conn: Conn, status: str, ago: int) -> None:
    await _send(conn, await _set(conn))
    await _finish(conn, status=status, ago=timedelta(minutes=ago))
    await conn.execute("UPDATE mailqueue.canaries SET set_up_at = now() - interval '5 min'")

    state, found = await _check(conn)

    assert state == "alarm"
    assert found.startswith("no canary email by relay of project canary since ")
    gauges = await _gauges(conn)
    assert gauges["mailqueue_canary_late", "smtp", "sent"] == 1
    is_sent = gauges["mailqueue_canary_age_seconds", "smtp", "sent"] < 1e6
    assert is_sent == (status == "sent")


async def test_a_canary_that_was_just_set_is_not_late(conn: Conn) -> None:
    await _set(conn)

    assert (await _check(conn))[0] == "ok"


async def test_deliveries_are_judged_where_the_provider_tells_of_them(conn: Conn) -> None:
    await _send(conn, await _set(conn))
    await _finish(conn)
    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email,"
        " occurred_at) SELECT project_id, email_ids[1], 'delivered', recipient,"
        " now() - interval '20 min' FROM mailqueue.canaries"
    )

    state, found = await _check(conn)

    assert state == "alarm"
    assert "(sent, not delivered)" in found
    gauges = await _gauges(conn)
    assert gauges["mailqueue_canary_late", "smtp", "sent"] == 0
    assert gauges["mailqueue_canary_late", "smtp", "delivered"] == 1


async def test_providers_in_use_without_a_canary_are_named_once_there_is_one(conn: Conn) -> None:
    await make.sender_account(conn, provider="ses")
    assert await _check(conn) == ("ok", "no canary emails are set up")

    await _set(conn)

    assert await _check(conn) == (
        "warning",
        "1 sender accounts send theirs; no canary for the providers ses",
    )


async def test_an_installation_without_canaries_has_no_metrics_of_them(conn: Conn) -> None:
    assert await _gauges(conn) == {}


async def test_only_the_newest_sixty_emails_are_remembered(conn: Conn) -> None:
    canary = await _set(conn)
    await conn.execute(
        "UPDATE mailqueue.canaries SET email_ids = ARRAY(SELECT gen_random_uuid()"
        " FROM generate_series(1, 60))"
    )

    await _send(conn, canary)

    found = await make.rows(
        conn,
        "SELECT cardinality(c.email_ids), q.id = c.email_ids[1] FROM mailqueue.canaries AS c,"
        " mailqueue.email_queue AS q",
    )
    assert found == [(60, True)]
