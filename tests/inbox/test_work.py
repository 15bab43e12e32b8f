"""The rules of one event, and the events of one replay, take bounded work."""

from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox import events
from tests.inbox.events import consume, rule

pytestmark = pytest.mark.anyio

LARGE = events.ORDER | {"items": [1] * 65_000}
"""A payload whose values times the 31 characters of an ordinary rule are 2 of 5 million."""


def results(done: dict[str, Any]) -> dict[str, str]:
    return {action["rule"]: action["result"] for action in done["actions"]}


@pytest.mark.parametrize(
    "given",
    [
        {"condition": "$.items[*] ? (@ > 0" + " && @ > 0" * 53 + ")"},
        {"variables": {f"v{n}": "$.items[*] ? (@ < 0)" for n in range(50)}},
        {"recipient_name": "$.items[*] ? (@ < 0" + " || @ < 0" * 53 + ")"},
    ],
    ids=["condition", "variables", "value"],
)
async def test_a_rule_of_too_much_work_fails_and_spares_the_others(
    conn: Conn, given: dict[str, Any]
) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, "a", **given)
    await rule(conn, project, "b")

    done = await consume(conn, LARGE)

    assert results(done) == {"a": "failed", "b": "mail"}
    assert done["actions"][0]["reason"].startswith(
        "payload: rule a cannot be applied: 65007 values"
    )


async def test_all_rules_of_an_event_share_the_bound_and_a_replay_applies_the_others(
    conn: Conn,
) -> None:
    project = await events.project_with_template(conn)
    for name in "abc":
        await rule(conn, project, name)
    message = uuid4()

    first = await consume(conn, LARGE, message=message)
    await conn.execute(
        "SELECT mailqueue.replay_inbox(%s, %s, NULL, NULL, NULL, NULL, NULL, 1, false)",
        [project, [message]],
    )
    then = await consume(conn, LARGE, message=message)

    assert results(first) == {"a": "mail", "b": "mail", "c": "failed"}
    assert results(then) == {"a": "mail", "b": "mail", "c": "mail"}


async def test_variables_are_refused_before_they_are_copied(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, variables={f"v{n}": "$" for n in range(40)})

    started = await make.scalar(conn, "SELECT clock_timestamp()")
    done = await consume(conn, LARGE)
    taken = await make.scalar(conn, "SELECT clock_timestamp() - %s", started)

    assert done["actions"][0]["reason"] == "variables: at most 64 KiB"
    assert taken.total_seconds() < 1


@pytest.mark.parametrize("field", ["recipient", "recipient_name", "language", "key"])
async def test_a_long_text_of_a_payload_is_read_in_linear_time(conn: Conn, field: str) -> None:
    project = await events.project_with_template(conn)
    long: dict[str, Any] = {field: "$.long"}
    await rule(conn, project, **long)
    await conn.execute("SET LOCAL statement_timeout = '5 s'")

    done = await consume(conn, events.ORDER | {"long": "x" + " " * 250_000 + "y <ann@example.com>"})

    assert [action["rule"] for action in done["actions"]] == ["placed"]


async def test_a_rule_cancels_a_bounded_number_of_emails_or_none(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, key="$.orderId", delay_seconds=3600)
    await rule(conn, project, "gone", event_type="Gone", action="cancel", key="$.orderId")
    await conn.execute(
        "SELECT mailqueue.consume(gen_random_uuid(), gen_random_uuid(), 'OrderPlaced', %s::jsonb)"
        " FROM generate_series(1, 1001)",
        [Jsonb(events.ORDER)],
    )

    many = await consume(conn, type_="Gone")
    await conn.execute(
        "SELECT mailqueue.cancel_emails(%s, ARRAY(SELECT id FROM mailqueue.email_queue LIMIT 1))",
        [project],
    )
    fewer = await consume(conn, type_="Gone")

    assert many["actions"][0]["reason"] == (
        'key: more than 1000 unfinished emails were made under "81"'
    )
    assert (many["cancelled_ids"], len(fewer["cancelled_ids"])) == ([], 1000)


async def test_a_rule_that_cancels_looks_up_a_bounded_number_of_emails(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, "gone", event_type="Gone", action="cancel", key="$.orderId")
    await consume(conn)
    await conn.execute(
        "INSERT INTO mailqueue.inbox_actions"
        " (inbox_id, project_id, is_test, rule, rule_version, result, email_id, key)"
        " SELECT i.id, i.project_id, false, 'r' || n, 1, 'mail', gen_random_uuid(), '81'"
        " FROM mailqueue.inbox_state AS i, generate_series(1, 10001) AS n"
    )

    done = await consume(conn, type_="Gone")

    assert done["actions"][0]["reason"] == (
        'key: rules made more than 10000 emails under "81", finished ones among them'
    )


async def test_many_long_rules_act_on_an_ordinary_payload(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    for n in range(20):
        await rule(conn, project, f"r{n}", condition="$.items[*] ? (@ > 0" + " && @ > 0" * 53 + ")")

    done = await consume(conn, events.ORDER | {"items": [1] * 400})

    assert set(results(done).values()) == {"mail"}


async def test_a_replay_begins_no_event_after_a_second(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, condition="$.none")
    for _ in range(3):
        await consume(conn)
    await conn.execute(
        "CREATE OR REPLACE FUNCTION mailqueue.is_event_selected(p_payload jsonb, p_condition text)"
        " RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT pg_sleep(0.6) IS NULL'"
    )

    async def replay(after: int | None) -> dict[str, Any]:
        found: dict[str, Any] = await make.scalar(
            conn,
            "SELECT mailqueue.replay_inbox(%s, NULL, 'OrderPlaced', NULL, NULL, NULL, %s, 3,"
            " false)",
            project,
            after,
        )
        return found

    first = await replay(None)
    rest = await replay(first["next"])

    assert (first["events"], rest["events"], rest["next"]) == (2, 1, None)
