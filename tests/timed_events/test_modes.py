"""Events of test contacts are test events, those of live contacts live ones."""

from typing import Any

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people
from tests.timed_events import events

pytestmark = pytest.mark.anyio
BORN: dict[str, Any] = {"date_of_birth": "1990-05-31"}


async def test_the_birthday_of_a_test_contact_makes_test_mail(conn: Conn) -> None:
    await events.template(conn)
    project = await make.project_named(conn)
    [before] = await people.added(conn, project, "old@example.com", is_test=True, **BORN)
    await events.birthdays(conn)
    await events.planned(conn)
    [tried] = await people.added(conn, project, "ann@example.com", is_test=True, **BORN)
    [live] = await people.added(conn, project, "ann@example.com", **BORN)

    query = "SELECT contact_id, is_test FROM mailqueue.timed_events ORDER BY contact_id"
    assert await make.rows(conn, query) == [(before, True), (tried, True), (live, False)]
    await events.make_due(conn)
    await events.fire(conn)
    query = "SELECT recipient_email, is_test FROM mailqueue.email_queue ORDER BY 1, 2"
    assert await make.rows(conn, query) == [
        ("ann@example.com", False),
        ("ann@example.com", True),
        ("old@example.com", True),
    ]


@pytest.mark.parametrize("is_test", [False, True])
async def test_an_event_is_for_a_contact_of_its_mode(conn: Conn, *, is_test: bool) -> None:
    await events.template(conn)
    project = await make.project_named(conn)
    [mine] = await people.added(conn, project, "ann@example.com", is_test=is_test)
    [other] = await people.added(conn, project, "ann@example.com", is_test=not is_test)
    query = (
        "SELECT mailqueue.put_timed_event('renewal', now(), contact_id => %s,"
        " template => 'welcome', is_test => %s)"
    )

    with pytest.raises(errors.InvalidParameterValue, match="contact_id: there is no contact"):
        async with conn.transaction():
            await make.scalar(conn, query, other, is_test)
    await make.scalar(conn, query, mine, is_test)

    assert await make.rows(conn, "SELECT contact_id FROM mailqueue.timed_events") == [(mine,)]
