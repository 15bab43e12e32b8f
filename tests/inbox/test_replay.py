"""Events of the inbox are applied again by today's rules; what was done stays done once."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox import events
from tests.inbox.events import consume, rule

pytestmark = pytest.mark.anyio

ALL: dict[str, Any] = {"p_type": "OrderPlaced"}


async def replay(
    conn: Conn, project: UUID, *, is_dry: bool = False, **given: object
) -> dict[str, Any]:
    """Return the counts of one call."""
    named = {"p_limit": 500} | given
    arguments = ", ".join(f"{name} => %s" for name in named)
    missing = {"p_messages", "p_type", "p_status", "p_since", "p_until", "p_after"} - set(named)
    blank = "".join(f", {name} => NULL" for name in sorted(missing))
    found: dict[str, Any] = await make.scalar(
        conn,
        f"SELECT mailqueue.replay_inbox(p_project => %s, p_is_dry => %s, p_by => 'tests',"
        f" {arguments}{blank})",
        project,
        is_dry,
        *named.values(),
    )
    return found


async def test_a_rule_added_later_acts_on_earlier_events(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await consume(conn)
    await rule(conn, project)

    counted = await replay(conn, project, is_dry=True, **ALL)
    mail_before = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
    done = await replay(conn, project, **ALL)

    assert mail_before == 0
    assert counted == done | {"is_dry_run": True}
    assert (done["events"], done["emails"], done["failed"], done["next"]) == (1, 1, 0, None)
    assert await make.scalar(conn, "SELECT status FROM mailqueue.inbox_state") == "handled"


async def test_mail_that_was_made_is_not_made_again(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project)
    await consume(conn)
    await rule(conn, project, is_new=False, priority="high")
    first = await replay(conn, project, **ALL)
    await conn.execute("SELECT mailqueue.remove_event_rule(%s, 'placed')", [project])
    await rule(conn, project)

    again = await replay(conn, project, **ALL)

    assert (first["emails"], again["emails"], again["unchanged"]) == (0, 0, 1)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 1


async def test_only_what_failed_is_done_again(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project)
    await rule(conn, project, "wrong", template="missing")
    message = uuid4()
    first = await consume(conn, message=message)
    await rule(conn, project, "wrong", is_new=False, template="welcome")

    done = await replay(conn, project, p_messages=[message])

    told = await consume(conn, message=message)
    assert (first["status"], told["status"]) == ("failed", "handled")
    assert (done["emails"], done["failed"]) == (1, 0)
    assert first["email_ids"][0] in told["email_ids"]
    assert len(told["email_ids"]) == 2
    assert await make.scalar(conn, "SELECT delivered FROM mailqueue.inbox_state") is not None


async def test_a_failed_rule_that_is_gone_or_disabled_no_longer_fails_the_event(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, template="missing")
    await consume(conn)
    await rule(conn, project, is_new=False, is_enabled=False)

    await replay(conn, project, p_status="failed")

    assert await make.scalar(conn, "SELECT status FROM mailqueue.inbox_state") == "ignored"


async def test_events_are_replayed_by_pages_in_order(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    for _ in range(5):
        await consume(conn)
    await rule(conn, project)
    counts, after = [], None
    while True:
        done = await replay(conn, project, p_after=after, p_limit=2, **ALL)
        counts.append(done["emails"])
        after = done["next"]
        if after is None:
            break

    assert counts == [2, 2, 1]


async def test_events_are_chosen_by_type_status_and_time(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await consume(conn)
    await consume(conn, type_="Other")
    middle = await make.scalar(conn, "SELECT max(received) FROM mailqueue.inbox_state")

    assert (await replay(conn, project, **ALL))["events"] == 1
    assert (await replay(conn, project, p_status="ignored"))["events"] == 2
    assert (await replay(conn, project, p_status="failed"))["events"] == 0
    assert (await replay(conn, project, p_since=middle))["events"] == 1
    assert (await replay(conn, project, p_until=middle))["events"] == 1


async def test_a_replay_of_everything_must_say_so(conn: Conn) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="message_ids"):
        await replay(conn, await make.project_named(conn))


async def test_other_projects_events_stay(conn: Conn) -> None:
    other = await make.project(conn, "shop")
    message = uuid4()
    await consume(conn, message=message)

    assert (await replay(conn, other, p_messages=[message]))["events"] == 0


async def test_what_cannot_be_read_fails_as_before(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await consume(conn, '{"a": ')

    done = await replay(conn, project, p_status="failed")

    assert (done["events"], done["unchanged"]) == (1, 1)
    assert await make.scalar(conn, "SELECT status FROM mailqueue.inbox_state") == "failed"


async def test_a_replay_is_in_the_audit_log_and_a_dry_run_is_not(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await consume(conn)
    query = "SELECT detail FROM mailqueue.audit_events WHERE action = 'inbox.replayed'"

    await replay(conn, project, is_dry=True, **ALL)
    assert await make.rows(conn, query) == []
    await replay(conn, project, **ALL)

    assert await make.rows(conn, query) == [
        ({"type": "OrderPlaced", "events": 1, "emails": 0, "cancelled": 0, "failed": 0},)
    ]
