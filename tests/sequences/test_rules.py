"""Event rules enroll contacts, end enrollments, and record events."""

from typing import Any

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox.events import consume, rule
from tests.sequences.running import TIPS, WELCOME, project_with_template, sequence

pytestmark = pytest.mark.anyio
BLANK: dict[str, Any] = {"template": None, "variables": {}}


async def test_events_enroll_record_and_end(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, WELCOME, TIPS, goal={"event": "Paid"})
    known: dict[str, Any] = {
        "recipient": "$.customer.email",
        "sequence": "onboarding",
        "template": None,
    }
    await rule(
        conn,
        project,
        "begin",
        action="enroll",
        event_type="Registered",
        **known | {"variables": {"order": "$.orderId"}},
    )
    await rule(conn, project, "end", action="leave", event_type="Closed", **known | BLANK)
    await rule(
        conn,
        project,
        "paid",
        action="record",
        event_type="Paid",
        **known | BLANK | {"sequence": None},
    )

    first = await consume(conn, type_="Registered")
    again = await consume(conn, type_="Registered")
    paid = await consume(conn, type_="Paid")
    closed = await consume(conn, type_="Closed")

    enrollment = await make.scalar(conn, "SELECT id::text FROM mailqueue.sequence_enrollments")
    assert first["actions"][0]["result"] == "enrolled"
    assert first["actions"][0]["enrollment_ids"] == [enrollment]
    assert again["actions"][0]["enrollment_ids"] == []
    assert again["actions"][0]["reason"] == "already_enrolled"
    assert (paid["actions"][0]["result"], paid["actions"][0]["enrollment_ids"]) == (
        "recorded",
        [enrollment],
    )
    assert (closed["actions"][0]["result"], closed["actions"][0]["enrollment_ids"]) == (
        "left",
        [enrollment],
    )
    query = "SELECT variables, source FROM mailqueue.sequence_enrollments"
    assert await make.rows(conn, query) == [({"order": "81"}, "event rule begin")]
    assert await make.scalar(conn, "SELECT type FROM mailqueue.sequence_events") == "Paid"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"action": "enroll"}, "sequence"),
        ({"action": "enroll", "sequence": "none"}, "sequence"),
        ({"action": "leave", "sequence": "none"}, "sequence"),
        ({"action": "record", "sequence": "onboarding"}, "sequence"),
        ({"action": "mail", "sequence": "onboarding", "template": "hello"}, "sequence"),
        ({"action": "leave", "recipient": None}, "recipient"),
        ({"action": "enroll", "sequence": "onboarding", "template": "hello"}, "action"),
    ],
)
async def test_a_rule_needs_what_its_action_needs(
    conn: Conn, given: dict[str, Any], field: str
) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)

    with pytest.raises(errors.InvalidParameterValue) as refused:
        await rule(conn, project, **BLANK | given)

    assert refused.value.diag.column_name == field
