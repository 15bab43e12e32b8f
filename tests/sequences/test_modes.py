"""Event rules act on the contacts and enrollments of the mode of their event."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox.events import CONSUMER, ORDER, rule
from tests.sequences.running import WELCOME, contact, project_with_template, sequence

pytestmark = pytest.mark.anyio
EMAIL = ORDER["customer"]["email"]


async def _deliver(conn: Conn, type_: str, *, is_test: bool) -> None:
    await make.scalar(
        conn,
        "SELECT mailqueue.consume(message_id => %s, consumer_id => %s, type => %s, payload => %s,"
        " is_test => %s)",
        uuid4(),
        CONSUMER,
        type_,
        make.adapted(ORDER),
        is_test,
    )


async def _enrolled(conn: Conn) -> list[tuple[bool, bool, UUID]]:
    return await make.rows(
        conn,
        "SELECT e.is_test, c.is_test, c.id FROM mailqueue.sequence_enrollments AS e"
        " JOIN mailqueue.contacts AS c ON c.id = e.contact_id ORDER BY e.id",
    )


@pytest.mark.parametrize("is_test", [False, True])
async def test_rules_enroll_record_and_end_in_the_mode_of_the_event(
    conn: Conn, *, is_test: bool
) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, WELCOME, goal={"event": "Paid"})
    known: dict[str, Any] = {"recipient": "$.customer.email", "template": None, "variables": {}}
    await rule(
        conn,
        project,
        "begin",
        action="enroll",
        event_type="Registered",
        sequence="onboarding",
        **known,
    )
    await rule(
        conn, project, "end", action="leave", event_type="Closed", sequence="onboarding", **known
    )
    await rule(conn, project, "paid", action="record", event_type="Paid", **known)
    other = await contact(conn, project, EMAIL, is_test=not is_test)

    await _deliver(conn, "Registered", is_test=is_test)
    [(mine, of_contact, contact_id)] = await _enrolled(conn)
    assert (mine, of_contact) == (is_test, is_test)
    assert contact_id != other

    for type_ in ("Paid", "Closed"):
        await _deliver(conn, type_, is_test=not is_test)
    query = (
        "SELECT (SELECT count(*) FROM mailqueue.sequence_events)"
        " + (SELECT count(*) FROM mailqueue.enrollment_exits)"
    )
    assert await make.scalar(conn, query) == 0
    for type_ in ("Paid", "Closed"):
        await _deliver(conn, type_, is_test=is_test)
    assert await make.scalar(conn, query) == 2
