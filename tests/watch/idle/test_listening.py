"""New mail makes an inbox due at once; each inbox has one connection, and none ends another."""

from typing import Any

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import hearing
from mailqueue.watch.store import hearing as store
from tests import make
from tests.watch import watching
from tests.watch.fake_imap import fake_imap, mail
from tests.watch.idle.listening import LATER, due, heard, listening, several

pytestmark = pytest.mark.anyio


async def test_what_a_server_says_makes_the_inbox_due_and_the_scan_reads_it(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        (one,) = await several(conn, server.port, 1)
        async with listening(database):
            await heard(conn, one)
            await due(conn, one)  # once, for what came while nobody listened
            async with watching.scanning(database):
                await watching.scanned(conn, one)
                await conn.execute(LATER.encode(), (one,))
                server.folders["INBOX"].add(mail(1, subject="At once"))
                server.tell(b"* 1 EXISTS\r\n")

                async def is_told() -> bool:
                    return [each[0] for each in await watching.log(conn)] == ["At once"]

                await watching.wait(is_told, "the notification")
    assert not any("FETCH" in each and "STORE" in each for each in server.commands)


async def test_each_inbox_has_one_connection_across_processes(database: DatabaseSettings) -> None:
    async with fake_imap() as server, connect(database) as conn:
        inboxes = await several(conn, server.port, 4)
        async with listening(database, room=3) as first, listening(database, room=3) as second:
            for one in inboxes:
                await heard(conn, one)
            assert len(server.idling) == 4
            query = "SELECT listener FROM mailqueue.inbox_listeners"
            found = {row[0] for row in await make.rows(conn, query)}
        assert found == {first.id, second.id}
        left = "SELECT count(*) FROM mailqueue.inbox_listeners WHERE lease_until > now()"
        assert await make.scalar(conn, left) == 0, "a process that stops gives leases back"


async def test_connections_that_end_together_end_no_other(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "ROUND_SECONDS", 0.05)
    async with fake_imap() as server, connect(database) as conn:
        inboxes = await several(conn, server.port, 5)
        async with listening(database):
            for one in inboxes:
                await heard(conn, one)
            for writer in server.idling[:2]:
                writer.write(b"* BYE bye\r\n")

            async def are_two_waiting() -> bool:
                query = "SELECT state FROM mailqueue.inbox_listeners ORDER BY state"
                return [row[0] for row in await make.rows(conn, query)] == [
                    *["listening"] * 3,
                    *["waiting"] * 2,
                ]

            await watching.wait(are_two_waiting, "two that wait")
            await conn.execute("UPDATE mailqueue.inbox_listeners SET next_at = now()")
            for one in inboxes:
                await heard(conn, one)
            assert len(server.idling) == 5


async def test_a_failed_connection_waits_twice_as_long_each_time(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        server.instead["EXAMINE"] = b"* BYE not now\r\n"
        (one,) = await several(conn, server.port, 1)
        waits = []
        for _ in range(3):
            async with listening(database):
                await heard(conn, one, "waiting")
                query = (
                    "SELECT round(extract(epoch FROM next_at - updated_at))::integer"
                    " FROM mailqueue.inbox_listeners"
                )
                waits.append(await make.scalar(conn, query))
            await conn.execute(
                "UPDATE mailqueue.inbox_listeners SET next_at = now(), state = 'connecting'"
            )
        assert waits == [30, 60, 120]


async def test_a_connection_that_always_fails_waits_at_most_sixteen_minutes(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        server.instead["EXAMINE"] = b"* BYE not now\r\n"
        (one,) = await several(conn, server.port, 1)
        async with listening(database):
            await heard(conn, one, "waiting")
        await conn.execute(
            "UPDATE mailqueue.inbox_listeners"
            " SET next_at = now(), state = 'connecting', failures = 1000000"
        )
        async with listening(database):
            await heard(conn, one, "waiting")
            query = "SELECT next_at - updated_at < '17 min' FROM mailqueue.inbox_listeners"
            assert await make.scalar(conn, query)


async def test_a_refused_login_is_tried_again_at_once_after_a_reconnection(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "ROUND_SECONDS", 0.05)
    async with fake_imap() as server, connect(database) as conn:
        (one,) = await several(conn, server.port, 1)
        server.password = "another"
        async with listening(database):
            await heard(conn, one, "waiting")
            logins = server.logins
            server.password = "secret"
            query = "SELECT next_at > now() + interval '10 min' FROM mailqueue.inbox_listeners"
            assert await make.scalar(conn, query) is True
            touched = "UPDATE mailqueue.mailboxes SET updated_at = clock_timestamp()"
            await conn.execute(touched)  # as a reconnection does
            await heard(conn, one)
        assert server.logins == logins + 1


async def test_a_server_without_idle_is_left_to_the_scans(database: DatabaseSettings) -> None:
    async with fake_imap() as server, connect(database) as conn:
        server.has_idle = False
        (one,) = await several(conn, server.port, 1)
        async with listening(database):
            await heard(conn, one, "unsupported")
        query = "SELECT next_at > now() + interval '23 h' FROM mailqueue.inbox_listeners"
        assert await make.scalar(conn, query) is True
        assert await make.scalar(conn, "SELECT status FROM mailqueue.mailboxes") == "pending"


async def test_a_paused_or_removed_inbox_is_listened_to_no_more(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "ROUND_SECONDS", 0.05)
    async with fake_imap() as server, connect(database) as conn:
        paused, removed, kept = await several(conn, server.port, 3)
        async with listening(database):
            for one in (paused, removed, kept):
                await heard(conn, one)
            await conn.execute(
                "UPDATE mailqueue.mailboxes SET paused_by = 'ann' WHERE id = %s", (paused,)
            )
            await conn.execute("DELETE FROM mailqueue.mailboxes WHERE id = %s", (removed,))

            async def is_one() -> bool:
                return len(server.idling) == 1

            await watching.wait(is_one, "one connection")
            await heard(conn, kept)


async def test_bounds_of_projects_and_servers_hold_for_all_processes(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "MAX_OF_SERVER", 2)
    async with fake_imap() as server, fake_imap() as other, connect(database) as conn:
        await several(conn, server.port, 4)
        _, elsewhere, _ = await watching.person(conn, 9, other.port)
        await conn.execute("UPDATE mailqueue.mailboxes SET last_scanned_at = now()")
        async with listening(database), listening(database):
            await heard(conn, elsewhere)
            query = (
                "SELECT count(*) FROM mailqueue.inbox_listeners WHERE state = 'listening'"
                " AND server LIKE %s"
            )

            async def are_two() -> bool:
                return bool(await make.scalar(conn, query, f"%:{server.port}") == 2)

            await watching.wait(are_two, "two connections")
            taken = (
                "SELECT * FROM mailqueue.take_inboxes_to_hear(gen_random_uuid(), 9, 9, 2, '1 h')"
            )
            assert await make.rows(conn, taken) == []
            of_project = taken.replace("9, 2", "3, 9")
            assert await make.rows(conn, of_project) == []


async def test_leases_are_renewed_by_one_statement_of_a_process(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    original = store.keep

    async def counting(*given: Any, **named: Any) -> Any:
        kept.append(len(given[2]))
        return await original(*given, **named)

    monkeypatch.setattr(store, "keep", counting)
    assert hearing.LEASE.total_seconds() >= hearing.ROUND_SECONDS * 3
    monkeypatch.setattr(hearing, "ROUND_SECONDS", 0.01)
    async with fake_imap() as server, connect(database) as conn:
        inboxes = await several(conn, server.port, 3)
        async with listening(database):
            for one in inboxes:
                await heard(conn, one)

            async def are_renewed() -> bool:
                return kept[-2:] == [3, 3]

            await watching.wait(are_renewed, "two renewals of all")


async def test_a_listener_whose_lease_was_taken_wakes_nothing(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        (one,) = await several(conn, server.port, 1)
        async with listening(database) as listener:
            await heard(conn, one)
            await due(conn, one)
            await conn.execute(LATER.encode(), (one,))
            await conn.execute("UPDATE mailqueue.inbox_listeners SET listener = gen_random_uuid()")
            query = "SELECT mailqueue.wake_inbox(%s, %s)"
            assert await make.scalar(conn, query, one, listener.id) == "waits"
            query = "SELECT run_at > now() FROM mailqueue.mailboxes"
            assert await make.scalar(conn, query) is True
