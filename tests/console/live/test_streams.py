"""Open pages: one reader for all of them, what ends a stream, and how many there may be."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from uuid import UUID, uuid4

import pytest

from mailqueue.admin.users.model import Right
from mailqueue.api.http.server import bind, listening
from mailqueue.console.live import reader, stream
from mailqueue.console.live.reader import LiveReader, Viewer
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.live.serving import DASHBOARD, EVENTS, Served, gone
from tests.console.visiting import Visiting, visiting

pytestmark = pytest.mark.anyio

VIEWER = Viewer(b"", UUID(int=0), Right.READ, None)


async def test_a_page_gets_what_changed_and_nothing_else(served: Served) -> None:
    await served.console.add_user("ann")
    http = await served.browser("ann")
    minute = time.time() // 60
    page = await served.open(http)
    assert set(await page.until("parts")) == {"figures", "accounts", "traffic"}
    async with served.console.connection() as conn:
        await make.queued_email(conn, priority=0)
    changed = set(await page.until("parts"))
    if changed == {"traffic"} and time.time() // 60 > minute:
        changed = set(await page.until("parts"))  # that before had the minute which was over
    if time.time() // 60 > minute:
        changed -= {"traffic"}

    assert changed == {"figures"}
    once = await http.get(DASHBOARD)
    assert set(once.json()) == {"figures", "accounts", "traffic"}


async def test_fifty_pages_hold_one_connection_and_none_when_they_are_left(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_STREAMS_OF_USER", 50)
    await served.console.add_user("ann")
    http = await served.browser("ann")
    pages = [await served.open(http) for _ in range(50)]
    for page in pages:
        await page.until("parts")

    assert await served.connections() == 1
    await served.stack.aclose()
    await gone(served)


async def test_one_read_serves_all_pages(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "RECHECK_SECONDS", 60)  # no session is behind these pages
    live, reads = LiveReader(database), 0

    async def load(conn: Conn) -> Mapping[str, str]:
        nonlocal reads
        reads += 1
        await conn.execute("SELECT 1")
        return {"count": str(reads), "same": "always"}

    watches = [live.watch(("view", None), load, VIEWER) for _ in range(50)]
    first = [await watch.changes(10) for watch in watches]
    seen = {part["count"] for part in first}
    later = [await watch.changes(10) for watch in watches]
    for watch in watches:
        live.leave(watch)
    await live.ended()

    assert all(set(part) == {"count", "same"} for part in first)
    assert all(set(part) == {"count"} for part in later)
    assert len(seen | {part["count"] for part in later}) <= reads


async def test_a_view_that_cannot_be_read_keeps_no_other_from_being_read(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "RECHECK_SECONDS", 60)  # no session is behind these pages
    live = LiveReader(database)

    async def broken(conn: Conn) -> Mapping[str, str]:
        await conn.execute("SELECT 1 / 0")
        return {}

    async def sound(conn: Conn) -> Mapping[str, str]:
        await conn.execute("SELECT 1")
        return {"part": str(uuid4())}

    watches = [
        live.watch((name, None), load, VIEWER) for name, load in (("a", broken), ("b", sound))
    ]
    found = [await watches[1].changes(10) for _ in range(3)]
    for watch in watches:
        live.leave(watch)
    await live.ended()

    assert all(found)


async def test_reads_do_not_grow_with_the_number_of_views(
    database: DatabaseSettings, console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "RECHECK_SECONDS", 60)  # no session is behind these pages
    monkeypatch.setattr(reader, "MAX_READS_PER_SECOND", 0.1)
    live, reads = LiveReader(database), list[int]()

    async def load(view: int, conn: Conn) -> Mapping[str, str]:
        reads.append(view)
        await conn.execute("SELECT 1")
        return {"count": str(len(reads))}

    loads = [partial(load, view) for view in range(40)]
    watches = [live.watch(("email", view), loads[view], VIEWER) for view in range(40)]
    for watch in watches:
        assert await watch.changes(10)
    await live.current(("email", 7), loads[7], console.connection)
    assert sorted(reads) == list(range(40))

    for watch in watches:
        live.leave(watch)
    await live.ended()
    monkeypatch.setattr(reader, "INTERVAL_SECONDS", 0)
    await live.current(("email", 7), loads[7], console.connection)
    assert reads[40:] == [7]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE mailqueue.console_sessions SET ended_at = clock_timestamp()",
        "UPDATE mailqueue.console_users SET removed_at = clock_timestamp() WHERE name = 'ben'",
        "UPDATE mailqueue.console_users SET role = 'viewer', sees_all = false WHERE name = 'ben'",
        "UPDATE mailqueue.console_sessions SET used_at = used_at - interval '1 day'",
    ],
    ids=["session-ended", "user-removed", "sees-less", "idle"],
)
async def test_a_stream_ends_when_its_user_may_not_see_the_page(
    served: Served, change: str
) -> None:
    await served.console.add_user("ben")
    http = await served.browser("ben")
    page = await served.open(http)
    async with served.console.connection() as conn:
        await conn.execute(change.encode())
    async with asyncio.timeout(20):
        await page.until("over")

    assert await page.event() is None


async def test_streams_end_where_their_users_cannot_be_checked(served: Served) -> None:
    await served.console.add_user("ben")
    page = await served.open(await served.browser("ben"))
    async with served.console.connection() as conn:
        await conn.execute("ALTER TABLE mailqueue.console_users RENAME COLUMN role TO title")
    async with asyncio.timeout(20):
        await page.until("over")


async def test_a_stream_of_a_project_ends_when_its_user_leaves_the_project(served: Served) -> None:
    async with served.console.connection() as conn:
        await make.project(conn, "shop")
        await make.project(conn, "blog")
    await served.console.add_user("ben", "viewer", "shop", "blog")
    http = await served.browser("ben")
    shop = await served.open(http, "/console/projects/shop/activity/live")
    blog = await served.open(http, "/console/projects/blog/activity/live")
    async with served.console.connection() as conn:
        await conn.execute(
            "DELETE FROM mailqueue.console_members AS m USING mailqueue.projects AS p"
            " WHERE p.id = m.project_id AND p.name = 'shop'"
        )
    async with asyncio.timeout(20):
        await shop.until("over")
        async with served.console.connection() as conn:
            project = await make.project_named(conn, "blog")
            await make.queued_email(conn, project_id=project)
        await blog.until("parts")


async def test_the_number_of_streams_is_bounded(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_STREAMS_OF_USER", 2)
    monkeypatch.setattr(reader, "MAX_STREAMS", 3)
    for name in ("ann", "ben"):
        await served.console.add_user(name)
    ann, ben = await served.browser("ann"), await served.browser("ben")
    pages = [await served.open(ann) for _ in range(2)]
    refused = await ann.get(DASHBOARD, headers=EVENTS)
    pages.append(await served.open(ben))
    full = await ben.get(DASHBOARD, headers=EVENTS)
    asked = await ben.get(DASHBOARD)

    assert (refused.status_code, full.status_code, asked.status_code) == (429, 429, 200)
    assert len(pages) == 3


async def test_a_stopping_server_ends_its_streams(database: DatabaseSettings) -> None:
    async with AsyncExitStack() as stack:
        async with visiting(database) as console:
            await console.add_user("ann")
            with bind("127.0.0.1", 0, option="--port") as sock:
                async with listening(console.app, sock) as url:
                    served = Served(console, url, stack)
                    page = await served.open(await served.browser("ann"))
                    await page.until("parts")
        # Ended as a stream ends, not cut off: a connection that is reset raises here.
        while await page.event() is not None:
            pass


async def test_a_client_that_takes_nothing_in_is_given_up(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "SEND_SECONDS", 0.05)
    live, never = LiveReader(database), asyncio.Event()
    sent: list[str] = []

    async def load(conn: Conn) -> Mapping[str, str]:
        await conn.execute("SELECT 1")
        return {"part": "x"}

    async def send(message: Mapping[str, object]) -> None:
        sent.append(str(message.get("body", b"start")))
        if len(sent) == 3:
            await never.wait()

    async def receive() -> Mapping[str, object]:
        await never.wait()
        return {}

    response = stream.EventStream(live, ("view", None), load, VIEWER)
    async with asyncio.timeout(20):
        await response({"type": "http"}, receive, send)  # type: ignore[arg-type]
        await live.ended()

    assert live.streams == 0
