"""Dead letters are replayed through today's rules, with a dry run; what was handled stays so."""

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from mailqueue.bridge import letters, store
from mailqueue.bridge.handling import handle
from mailqueue.bridge.model import ConsumedEvent, LetterFilter
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.ports.broker import BrokerMessage
from tests import make
from tests.bridge.keeping import ORDERS, unhandled
from tests.bridge.messages import MASSTRANSIT, masstransit
from tests.conftest import Server
from tests.inbox import events
from tests.rules.logins import login

pytestmark = pytest.mark.anyio
ALL = LetterFilter(since=datetime(2020, 1, 1, tzinfo=UTC))


async def keep(conn: Conn, body: bytes) -> UUID:
    return await unhandled(conn, "default", body=body)


async def mails(conn: Conn) -> int:
    return int(await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue"))


async def test_a_dry_run_counts_what_the_replay_then_does(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await events.rule(conn, project)
    known = uuid4()
    await keep(conn, b"no event")
    await keep(conn, masstransit(known))
    await keep(conn, masstransit(known, correlationId=str(uuid4())))
    await keep(conn, masstransit())

    tried = await letters.replay(conn, project, "default", filters=ALL, is_dry=True, by="ann")

    assert (tried.letters, tried.events, tried.duplicates) == (4, 2, 1)
    assert (tried.emails, tried.failed) == (2, 1)
    assert await mails(conn) == 0
    waiting = "SELECT count(*) FROM mailqueue.dead_letters WHERE status = 'waiting'"
    assert await make.scalar(conn, waiting) == 4

    done = await letters.replay(conn, project, "default", filters=ALL, is_dry=False, by="ann")

    assert (done.letters, done.events, done.duplicates) == (4, 2, 1)
    assert (done.emails, done.failed) == (2, 1)
    assert await mails(conn) == 2
    again = await letters.replay(conn, project, "default", filters=ALL, is_dry=False, by="ann")
    assert (again.letters, again.events, again.failed) == (1, 0, 1)
    assert await mails(conn) == 2
    audit = "SELECT count(*) FROM mailqueue.audit_events WHERE action = 'dead_letters.replayed'"
    assert await make.scalar(conn, audit) == 2
    left = await letters.list_page(
        conn, project, filters=LetterFilter(), status="waiting", before=None, limit=10
    )
    assert [one.reason[:14] for one in left.data] == ["body: not JSON"]


async def test_letters_are_chosen_by_id_type_and_time_a_page_at_a_time(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await events.rule(conn, project)
    message = uuid4()
    by_message = await keep(conn, masstransit(message))
    by_id = await keep(conn, masstransit())
    other = await keep(conn, masstransit(type_="OrderClosed"))

    async def letters_of(filters: LetterFilter, ids: list[UUID] | None = None) -> int:
        done = await letters.replay(
            conn, project, "default", ids=ids, filters=filters, is_dry=True, by="ann"
        )
        return done.letters

    assert await letters_of(LetterFilter(), [message, by_id]) == 2
    assert await letters_of(LetterFilter(), [by_message]) == 1
    assert await letters_of(LetterFilter(type="OrderClosed")) == 1
    assert await letters_of(LetterFilter(until=datetime.now(UTC) - timedelta(days=1))) == 0
    with pytest.raises(InvalidField, match="ids: ids, a type or a time is needed"):
        await letters_of(LetterFilter())
    first = await letters.replay(
        conn, project, "default", filters=ALL, limit=2, is_dry=True, by="ann"
    )
    (after,) = key_of(first.next_cursor, UUID)
    rest = await letters.replay(
        conn, project, "default", filters=ALL, after=after, limit=2, is_dry=True, by="ann"
    )
    assert (first.letters, rest.letters, rest.next_cursor) == (2, 1, None)
    shown = await letters.show(conn, project, other)
    assert (shown.type, shown.content_type) == ("OrderClosed", MASSTRANSIT)
    with pytest.raises(NotFound):
        await letters.show(conn, project, uuid4())


async def test_a_message_that_the_inbox_handled_is_not_handled_by_a_replay(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await events.rule(conn, project)
    message = uuid4()
    await keep(conn, masstransit(message))
    await make.scalar(
        conn,
        "SELECT count(*) FROM mailqueue.consume_messages('default', ARRAY[%s]::uuid[],"
        " ARRAY[%s]::uuid[], '{OrderPlaced}',"
        " ARRAY[%s], '{\"{}\"}')",
        ORDERS.consumer_id,
        message,
        json.dumps(events.ORDER),
    )
    assert await mails(conn) == 1

    done = await letters.replay(conn, project, "default", filters=ALL, is_dry=False, by="ann")

    assert (done.duplicates, done.events, done.emails) == (1, 0, 0)
    assert await mails(conn) == 1


async def test_why_names_the_reason_and_how_to_read_it_again(conn: Conn) -> None:
    await events.project_with_template(conn)
    message = uuid4()
    letter = await keep(conn, masstransit(message))

    for one in (message, letter):
        said = await make.scalar(conn, "SELECT mailqueue.why(%s)", one)
        assert said.startswith("message from queue orders of project default: a dead letter since ")
        command = f"mailqueue bridge replay --id {letter} --project default"
        assert said.endswith(f": it failed; to read it again: {command}")


async def test_a_worker_without_other_rights_may_take_messages(
    conn: Conn, server: Server, fresh_db: str
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    url = server.superuser_url(urlsplit(fresh_db).path[1:])
    async with login(url, "mailqueue_worker") as worker:
        outcomes = await handle(worker, ORDERS, [BrokerMessage(1, masstransit())])
        await store.note_queue(
            worker, "default", "orders", state="consuming", reason=None, received=1
        )
        await keep(worker, b"poison")

    assert [type(one) for one in outcomes] == [ConsumedEvent]
    assert await mails(conn) == 1
