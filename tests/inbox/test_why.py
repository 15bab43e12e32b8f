"""`mailqueue why MESSAGE` says what became of an event, and what to type next."""

from uuid import uuid4

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox import events
from tests.inbox.events import consume, rule
from tests.operations.why.commands import commands, parsed, states, steps, why

pytestmark = pytest.mark.anyio


async def test_each_status_of_an_event_has_a_sentence_and_a_command(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, "placed", key="$.orderId")
    await rule(conn, project, "gone", action="cancel", key="$.orderId")
    await rule(conn, project, "wrong", event_type="Wrong", template="missing")
    said = {}
    for type_, headers in (
        ("OrderPlaced", None),
        ("Nothing", None),
        ("Wrong", None),
        ("Late", {"ExpirationTime": "2020-01-01T00:00:00Z"}),
    ):
        message = uuid4()
        done = await consume(conn, message=message, type_=type_, headers=headers)
        said[done["status"]] = (await why(conn, message), done)

    assert states(await steps(conn), "event") == said.keys()
    handled, done = said["handled"]
    assert handled.startswith("event OrderPlaced of project default, handled at ")
    assert '; rule gone cancelled 0 emails of key "81"; ' in handled
    assert f"rule placed made mail {done['email_ids'][0]}; to see it: " in handled
    assert '; rule wrong failed: template: there is no template "missing"; ' in said["failed"][0]
    assert ": it expired at 2020-01-01 00:00:00 UTC" in said["expired"][0]
    for sentence, _ in said.values():
        assert commands(sentence)
        for line in commands(sentence):
            parsed(line)


async def test_an_event_that_cannot_be_read_says_why(conn: Conn) -> None:
    message = uuid4()
    await consume(conn, "[]", message=message)
    await consume(conn, "[]", message=message)

    said = await why(conn, message)

    assert "failed at" in said
    assert ": payload: an object is needed, got array; delivered 2 times; to see it" in said


async def test_another_tenants_event_is_not_told(conn: Conn) -> None:
    other = await make.project(conn, "news")
    message = uuid4()
    await consume(conn, message=message)
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", [str(other)])

    assert await why(conn, message) == "there is no such email"
