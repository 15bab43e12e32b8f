"""Mail is refused before the disk is full, by every interface, and sending continues."""

import asyncio
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations.doctor.disk_space import (
    is_short,
    look,
    places_of,
    report_once,
    watching_space,
)
from mailqueue.operations.store import health as health_store
from mailqueue.operations.store.health import Room, ServerProcess, SpaceVerdict
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource, load_settings
from tests import make
from tests.api.support.calling import calling, error_of, settings_for
from tests.chaos.scenarios.disks import _mounted, _small_server, _unmounted
from tests.chaos.server import fresh_database
from tests.cli.support.invoked import Cli
from tests.concurrency.running import until
from tests.mail.claim.steps import claim, settle
from tests.rules.logins import mail

pytestmark = pytest.mark.anyio

GB = 1 << 30
MB = 1 << 20
WAYS = (
    mail(),
    "COPY mailqueue.email_queue (recipient_email, subject, text_body) FROM STDIN",
    "SELECT mailqueue.enqueue(recipient => 'ann@example.com', subject => 's', text => 't')",
    "SELECT * FROM mailqueue.enqueue_batch('default',"
    ' \'[{"recipient": "ann@example.com", "subject": "s", "text": "t"}]\')',
)


async def told(conn: Conn, free: int, total: int = 50 * GB) -> bool:
    """Report that much free space; return whether mail is refused then."""
    verdict = await health_store.report_space(conn, "db-1", [Room("data", free, total)])
    return verdict.is_refused


async def hand_in(conn: Conn, way: str) -> None:
    async with conn.transaction():
        if not way.startswith("COPY"):
            await conn.execute(way.encode())
            return
        async with conn.cursor().copy(way.encode()) as copy:
            await copy.write_row(("ann@example.com", "Hello", "Hi"))


@pytest.mark.parametrize("way", WAYS)
async def test_mail_is_refused_in_every_way_while_room_is_short(conn: Conn, way: str) -> None:
    await make.sender_account(conn)
    await hand_in(conn, way)
    assert await told(conn, GB - 1)

    with pytest.raises(errors.DiskFull, match="mail is not accepted now: the disk of Post") as info:
        await hand_in(conn, way)

    assert "has 1024 MB left of 50 GB (data)" in str(info.value)
    assert "Queued mail is still sent" in str(info.value.diag.message_hint)
    assert not await told(conn, 3 * GB)
    await hand_in(conn, way)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 2


async def test_what_is_queued_is_sent_while_mail_is_refused(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    assert await told(conn, 0)

    await settle(conn, await claim(conn, await make.worker(conn)))

    assert await make.status_of(conn, email) == "sent"


async def test_between_the_bounds_things_stay_as_they_are(conn: Conn) -> None:
    assert not await told(conn, int(1.5 * GB))
    assert await told(conn, GB - 1)
    assert await told(conn, int(1.5 * GB))
    assert not await told(conn, 2 * GB)
    assert not await told(conn, int(1.5 * GB))


async def test_a_report_that_is_not_renewed_refuses_nothing_for_long(conn: Conn) -> None:
    await told(conn, 0)
    await conn.execute(
        "UPDATE mailqueue.refusals SET valid_until = valid_until - interval '2 min 1 s'"
    )

    assert await make.scalar(conn, "SELECT mailqueue.refusal_now()") is None


async def test_the_database_is_kept_below_its_size_limit(conn: Conn) -> None:
    await limit(conn, "1 MB")
    assert (await health_store.report_space(conn, "far", [])).is_refused
    assert "database_size_limit is 1024 kB" in await make.scalar(
        conn, "SELECT mailqueue.refusal_now()"
    )
    assert ("size limit", "alarm") in await make.rows(
        conn, "SELECT name, state FROM mailqueue.health"
    )

    await limit(conn, "100 GB")
    assert not (await health_store.report_space(conn, "far", [])).is_refused
    await limit(conn, "1 MB")
    assert (await health_store.report_space(conn, "far", [])).is_refused
    await limit(conn, "0")
    assert not (await health_store.report_space(conn, "far", [])).is_refused


async def limit(conn: Conn, size: str) -> None:
    await conn.execute(
        "UPDATE mailqueue.system_settings SET value = %s WHERE name = 'database_size_limit'",
        (size,),
    )


@pytest.mark.parametrize(
    ("free", "state"), [(0, "alarm"), (2 * GB, "warning"), (9 * GB, "ok"), (None, "warning")]
)
async def test_view_health_tells_of_the_room(conn: Conn, free: int | None, state: str) -> None:
    if free is not None:
        await told(conn, free)

    [found] = await make.rows(
        conn, "SELECT state, found, fix IS NULL FROM mailqueue.health WHERE name = 'free space'"
    )

    assert (found[0], found[2]) == (state, state == "ok")
    assert ("on db-1" in found[1]) is (free is not None)


async def test_a_person_may_refuse_mail_too(conn: Conn) -> None:
    await make.sender_account(conn)
    await conn.execute(
        "INSERT INTO mailqueue.refusals (reason, message)"
        " VALUES ('moving', 'moving to another host')"
    )
    await told(conn, 9 * GB)

    with pytest.raises(errors.DiskFull, match="now: moving to another host"):
        await make.queued_email(conn)


async def test_a_refusal_that_ended_after_it_was_read_refuses_nothing(conn: Conn) -> None:
    """Who has read it asks for its reason in a later statement, which no longer finds it."""
    await make.sender_account(conn)
    project = await make.scalar(conn, "SELECT id FROM mailqueue.projects WHERE name = 'default'")
    ask = "SELECT mailqueue.refuse_for_now(%s)"
    await told(conn, 0)
    with pytest.raises(errors.DiskFull):
        async with conn.transaction():
            await conn.execute(ask, (project,))
    await told(conn, 9 * GB)

    await conn.execute(ask, (project,))


async def test_the_api_says_when_to_come_again(database: DatabaseSettings) -> None:
    async with calling(database) as api, connect(database) as conn:
        assert (await api.get("/readyz")).status_code == 200
        await told(conn, 0)

        refused, ready, alive = await asyncio.gather(
            api.send(), api.get("/readyz"), api.get("/healthz")
        )

        assert refused.status_code == ready.status_code == 503
        assert refused.headers["retry-after"] == "60"
        assert error_of(refused)["name"] == error_of(ready)["name"] == "no_room"
        assert "mail is not accepted now: the disk" in error_of(refused)["message"]
        assert alive.status_code == 200
        await told(conn, 9 * GB)
        assert (await api.send()).status_code == 202


async def test_an_api_that_needs_a_newer_schema_is_not_ready(database: DatabaseSettings) -> None:
    async with calling(database) as api, connect(database) as conn:
        await conn.execute(
            "DELETE FROM mailqueue.schema_migrations WHERE version ="
            " (SELECT max(version) FROM mailqueue.schema_migrations)"
        )

        answer = await api.get("/readyz")

        assert answer.status_code == 503
        assert "run `mailqueue migrate`" in error_of(answer)["message"]


def test_the_command_line_says_it_in_a_sentence(fresh_db: str, tmp_path: Path) -> None:
    cli = Cli(fresh_db, tmp_path)

    async def fill(conn: Conn) -> None:
        await make.sender_account(conn)
        await told(conn, 0)

    cli.sql(fill)

    result = cli("send", "--to", "ann@example.com", "--subject", "s", "--text", "t")

    assert result.exit_code != 0
    assert "mail is not accepted now: the disk of PostgreSQL on db-1" in result.output
    assert "Traceback" not in result.output


def test_room_is_looked_at_each_second_when_it_is_short() -> None:
    fine = SpaceVerdict(GB, 2 * GB, is_refused=False)
    assert not is_short([Room("data", 5 * GB, 50 * GB)], fine)
    assert is_short([Room("data", 5 * GB, 50 * GB), Room("wal", 3 * GB, 4 * GB)], fine)
    assert is_short([], replace(fine, is_refused=True))


def test_folders_that_cannot_be_looked_at_are_left_out(tmp_path: Path) -> None:
    rooms = look([tmp_path, tmp_path / "pg_wal"])

    assert [room.place for room in rooms] == ["data"]
    assert rooms[0].total_bytes > rooms[0].free_bytes > 0


def test_a_process_that_is_no_server_of_this_host_is_not_taken_for_one(tmp_path: Path) -> None:
    settings = settings_for(DatabaseSettings(load_settings().database.url))
    ours = replace(settings, database=replace(settings.database, source=DatabaseSource.EMBEDDED))

    assert places_of(ServerProcess(os.getpid(), str(tmp_path)), settings) == []
    assert places_of(ServerProcess(1 << 30, str(tmp_path)), settings) == []
    assert places_of(ServerProcess(1 << 30, str(tmp_path)), ours) == [
        tmp_path,
        tmp_path / "pg_wal",
    ]


@pytest.mark.small_disk
async def test_a_disk_that_fills_up_again_and_again_never_stops_the_server() -> None:
    with tempfile.TemporaryDirectory(prefix="mailqueue-space-", dir="/tmp") as name:
        disk = Path(name) / "disk"
        assert not _mounted(disk)
        try:
            async with _small_server(disk) as server, fresh_database(server) as database:
                await _fill_and_free(database, disk)
            said = (disk.parent / "log").read_text("utf-8", errors="replace")
        finally:
            _unmounted(disk)
    assert "PANIC" not in said
    assert "No space left" not in said


async def _fill_and_free(database: DatabaseSettings, disk: Path) -> None:
    settings = settings_for(database)
    async with connect(database) as conn:
        await make.sender_account(conn)
        for setting, value in (("refuse", "70 MB"), ("accept", "90 MB"), ("warning", "95 MB")):
            await conn.execute(
                "UPDATE mailqueue.system_settings SET value = %s WHERE name = %s",
                (value, f"free_space_{setting}"),
            )
        _, verdict = await report_once(conn, settings)
        assert not verdict.is_refused
        worker = await make.worker(conn)
        async with watching_space(settings):
            for _ in range(3):
                await _fill(conn, disk, worker)


async def _fill(conn: Conn, disk: Path, worker: int) -> None:
    """Fill the disk almost completely, submit mail until it is refused, send it, and free the
    space.
    """
    room = os.statvfs(disk)
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_bsize - 75 * MB)

    async def is_refused() -> bool:
        try:
            await make.queued_email(conn, text_body="x" * 100_000)
        except errors.DiskFull as exc:
            # Any other is the server's own: it came too late.
            return "mail is not accepted now" in str(exc)
        return False

    async def is_accepted() -> bool:
        return not await is_refused()

    await until(is_refused)
    while taken := await claim(conn, worker):
        await settle(conn, taken)
    ballast.unlink()
    await until(is_accepted)
