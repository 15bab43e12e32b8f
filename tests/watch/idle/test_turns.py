"""Connections are shared: no project keeps all of a process or of a server from others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import pytest

from mailqueue.adapters.mailboxes.idle import ImapIdle
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import hearing
from mailqueue.watch.hearing import HearingTools, InboxListener
from tests import make
from tests.watch import watching
from tests.watch.fake_imap import fake_imap
from tests.watch.idle.listening import heard, listening, several
from tests.webhooks.delivering import LOOPBACK, master

pytestmark = pytest.mark.anyio

TAKE = "SELECT * FROM mailqueue.take_inboxes_to_hear(%s, %s, %s, %s, '1 h')"
YIELD = "SELECT mailqueue.yield_inboxes_heard(%s, %s, %s, %s)"
HELD = """
    SELECT p.name, count(*) FROM mailqueue.inbox_listeners AS l
      JOIN mailqueue.projects AS p ON p.id = l.project_id
     WHERE l.lease_until > clock_timestamp() GROUP BY p.name
"""
OWN = (
    "SELECT count(*) FROM mailqueue.inbox_listeners"
    " WHERE listener = %s AND lease_until > clock_timestamp()"
)
MANY = """
    INSERT INTO mailqueue.mailboxes (project_id, user_id, provider, email_address, host, port, tls,
        username, sealed_password, folders, scan_seconds, last_scanned_at)
    SELECT u.project_id, u.id, 'imap', %s || n || '@example.com', %s, 993, 'implicit', 'ann', '',
           '{INBOX}', 30, now()
      FROM generate_series(1, %s) AS n, mailqueue.inbox_users AS u WHERE u.id = %s
"""


async def many(conn: Conn, name: str, count: int, *, host: str = "imap.example.com") -> None:
    """Add a project with inboxes of one person that were scanned."""
    await make.project(conn, name)
    person = await watching.user(conn, f"{uuid4().hex}@example.com", project=name)
    await conn.execute(MANY.encode(), (name, host, count, person))


async def turn(conn: Conn, listener: UUID, *, room: int, of_server: int = 1000) -> dict[str, int]:
    """Run one round of a process; return the connections of each project."""
    await conn.execute(YIELD.encode(), (listener, room, 1000, of_server))
    left = room - await make.scalar(conn, OWN, listener)
    await conn.execute(TAKE.encode(), (listener, left, 1000, of_server))
    return dict(await make.rows(conn, HELD))


async def test_a_full_process_gives_places_to_a_project_with_fewer(conn: Conn) -> None:
    listener = uuid4()
    await many(conn, "large", 30)
    assert await turn(conn, listener, room=10) == {"large": 10}

    await many(conn, "small", 2)
    assert await turn(conn, listener, room=10) == {"large": 8, "small": 2}
    await many(conn, "other", 30)
    assert await turn(conn, listener, room=10) == {"large": 4, "small": 2, "other": 4}
    assert await turn(conn, listener, room=10) == {"large": 4, "small": 2, "other": 4}
    assert await make.scalar(conn, YIELD, listener, 10, 1000, 1000) == 0, "once they have as many"


async def test_a_full_server_gives_places_to_a_project_with_fewer_and_other_servers_give_none(
    conn: Conn,
) -> None:
    first, second = uuid4(), uuid4()
    await many(conn, "large", 20)
    await many(conn, "elsewhere", 20, host="mail.example.net")
    assert await turn(conn, first, room=16, of_server=12) == {"large": 8, "elsewhere": 8}
    assert await turn(conn, second, room=40, of_server=12) == {"large": 12, "elsewhere": 12}

    await many(conn, "small", 3)
    for listener in (first, second):
        await turn(conn, listener, room=40, of_server=12)
    assert dict(await make.rows(conn, HELD)) == {"large": 9, "small": 3, "elsewhere": 12}


async def test_an_inbox_that_cannot_be_connected_to_takes_no_place_again(conn: Conn) -> None:
    listener = uuid4()
    await many(conn, "large", 10)
    await turn(conn, listener, room=4)
    await many(conn, "broken", 1)
    assert await turn(conn, listener, room=4) == {"large": 3, "broken": 1}
    failed = (
        "SELECT mailqueue.note_inbox_heard(%s, mailbox_id, 'waiting', 'refused', '0 s')"
        " FROM mailqueue.inbox_listeners AS l JOIN mailqueue.projects AS p ON p.id = l.project_id"
        " WHERE p.name = 'broken'"
    )
    await conn.execute(failed.encode(), (listener,))

    due = "UPDATE mailqueue.inbox_listeners SET next_at = clock_timestamp() WHERE state = 'waiting'"
    await conn.execute(due.encode())
    assert await make.scalar(conn, YIELD, listener, 3, 1000, 1000) == 0, "none for one that failed"
    assert await turn(conn, listener, room=4) == {"large": 3, "broken": 1}, "it has what is free"


async def test_a_project_at_its_bound_takes_no_places_at_a_server(conn: Conn) -> None:
    listener = uuid4()
    await many(conn, "bounded", 20)
    await many(conn, "small", 6)
    await conn.execute(TAKE.encode(), (listener, 100, 5, 8))
    assert dict(await make.rows(conn, HELD)) == {"bounded": 4, "small": 4}
    await conn.execute(TAKE.encode(), (listener, 100, 4, 10))
    assert dict(await make.rows(conn, HELD)) == {"bounded": 4, "small": 4}
    await conn.execute(TAKE.encode(), (listener, 100, 5, 10))
    assert dict(await make.rows(conn, HELD)) == {"bounded": 5, "small": 5}


async def test_a_process_that_gives_way_ends_the_connection(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "ROUND_SECONDS", 0.05)
    async with fake_imap() as server, connect(database) as conn:
        inboxes = await several(conn, server.port, 2)
        async with listening(database, room=2):
            for one in inboxes:
                await heard(conn, one)
            await make.project(conn, "other")
            person = await watching.user(conn, "eve@example.com", project="other")
            added = await watching.inbox(conn, person, server.port, project="other")
            await conn.execute("UPDATE mailqueue.mailboxes SET last_scanned_at = now()")
            await heard(conn, added)

            async def are_two() -> bool:
                return len(server.idling) == 2

            await watching.wait(are_two, "two connections")
            assert dict(await make.rows(conn, HELD)) == {"default": 1, "other": 1}


async def test_a_server_that_goes_on_saying_so_makes_an_inbox_due_ever_less_often(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause doubles up to its bound, and is back at the first after a silence."""
    changed, pauses = asyncio.Event(), list[float]()
    says = iter([*[True] * 6, False, True, True])

    class Over(Exception):
        """All was said."""

    async def pausing(seconds: float) -> None:
        pauses.append(seconds)
        if (does_speak := next(says, None)) is None:
            raise Over
        if does_speak:
            changed.set()
        else:
            asyncio.get_running_loop().call_soon(changed.set)

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with connect(database) as conn:
            yield conn

    listener = InboxListener(HearingTools(ImapIdle(LOOPBACK), master, lend))
    monkeypatch.setattr(asyncio, "sleep", pausing)
    changed.set()
    with pytest.raises(Over):
        await listener._wake(uuid4(), changed)
    assert pauses == [2, 4, 8, 16, 32, 32, 32, 2, 4, 8]


async def test_what_a_full_process_gives_up_it_does_not_take_again(conn: Conn) -> None:
    """Connections of all processes count, both where one is given up and where one is taken."""
    first, second = uuid4(), uuid4()
    await many(conn, "large", 30)
    assert await turn(conn, first, room=10) == {"large": 10}
    await many(conn, "small", 8)
    assert await turn(conn, second, room=4) == {"large": 10, "small": 4}

    assert await make.scalar(conn, YIELD, second, 4, 1000, 1000) == 0, "small has fewer in all"
    assert await turn(conn, first, room=10) == {"large": 7, "small": 7}
    assert await make.scalar(conn, YIELD, first, 10, 1000, 1000) == 0
    assert await make.scalar(conn, YIELD, second, 4, 1000, 1000) == 0


async def test_no_more_is_given_up_than_a_server_has_places_for(conn: Conn) -> None:
    first, second = uuid4(), uuid4()
    await many(conn, "one", 3, host="mail.example.net")
    assert await turn(conn, first, room=3, of_server=4) == {"one": 3}
    await many(conn, "two", 8)
    assert await turn(conn, second, room=4, of_server=4) == {"one": 3, "two": 4}
    await many(conn, "three", 2, host="mail.example.net")
    assert await make.scalar(conn, YIELD, second, 4, 1000, 4) == 1, "the server takes one more"
    assert await turn(conn, second, room=4, of_server=4) == {"one": 3, "two": 3, "three": 1}
    assert await make.scalar(conn, YIELD, second, 4, 1000, 4) == 0


async def test_of_inboxes_with_the_same_turn_one_that_failed_comes_last(conn: Conn) -> None:
    first, second = uuid4(), uuid4()
    await many(conn, "broken", 3)
    assert await turn(conn, first, room=3) == {"broken": 3}
    failed = (
        "UPDATE mailqueue.inbox_listeners SET failures = 1, state = 'waiting',"
        " lease_until = clock_timestamp(), next_at = clock_timestamp()"
    )
    await conn.execute(failed.encode())
    await many(conn, "small", 3)
    assert await turn(conn, second, room=1) == {"small": 1}
