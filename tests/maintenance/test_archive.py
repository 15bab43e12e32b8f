"""Old records are moved from their tables to files: all of them, each once, and the books add
up.
"""

import asyncio
import hashlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.maintenance import partitions, tasks
from mailqueue.maintenance.archive import manifest
from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.archive.manifest import FileFilter
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Task
from mailqueue.maintenance.months import month_of
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.files import ArchiveStores
from tests import make
from tests.concurrency.running import until
from tests.maintenance import stored_mail
from tests.maintenance.old_mail import aged, old, sent

pytestmark = pytest.mark.anyio


async def keep_days(conn: Conn, kind: str, hot: int, warm: int | None, keep: int | None) -> None:
    await conn.execute(
        "SELECT * FROM mailqueue.change_retention(NULL, %s, %s, %s, %s, 'test')",
        (kind, hot, warm, keep),
    )


async def test_old_mail_leaves_whole_and_the_books_add_up(
    desk: MaintenanceContext, warm: Path
) -> None:
    await old(desk.conn, 30)
    before = await stored_mail.everything(desk.conn)

    report = await archive_task.run(desk)

    assert report.needs == ()
    assert set((await stored_mail.in_tables(desk.conn)).values()) == {0}
    assert await stored_mail.differences(desk.conn) == []
    mails = stored_mail.records(warm, "email_history")
    assert len(mails) == 30
    assert len(before["email_history"]) == 30
    assert [len(mail["email_recipients"]) for mail in mails if "email_recipients" in mail] == [2]
    assert len(stored_mail.records(warm, "send_logs")) == len(before["send_logs"]) > 20
    assert set(stored_mail.lines(warm)) >= before["send_logs"] | before["email_contents"]
    assert set(await stored_mail.states(desk.conn)) == {"archived"}


async def test_mail_beyond_a_reader_leaves_as_it_is_and_comes_back_so(
    desk: MaintenanceContext, warm: Path
) -> None:
    """It was accepted before there were bounds; the archive does not stop at it."""
    await sent(desk.conn, 4)
    mails = await make.rows(desk.conn, "SELECT id FROM mailqueue.email_history ORDER BY id")
    deep = "[" * 1_100 + "]" * 1_100
    for (mail,), value in zip(
        mails, (deep, '{"a": ' + "9" * 5_000 + "}", '{"a": 1e60000}', "1"), strict=True
    ):
        await desk.conn.execute(
            "UPDATE mailqueue.email_history SET custom_data = %s, expires_at = 'infinity'"
            " WHERE id = %s",
            (value, mail),
        )
    await aged(desk.conn)
    query = "SELECT id, custom_data::text, expires_at::text FROM mailqueue.email_history"
    before = set(await make.rows(desk.conn, query))

    report = await archive_task.run(desk)

    assert report.needs == ()
    assert await make.rows(desk.conn, query) == []
    assert len(stored_mail.lines(warm)) >= 4
    async for _ in manifest.bring_back(desk, FileFilter(), keep=timedelta(days=7)):
        pass
    assert set(await make.rows(desk.conn, query)) == before


async def test_who_asks_for_archived_mail_is_told_where_to_look(desk: MaintenanceContext) -> None:
    await old(desk.conn, 1)
    mail = await make.scalar(desk.conn, "SELECT id FROM mailqueue.email_history")
    await archive_task.run(desk)

    told = await make.scalar(desk.conn, "SELECT mailqueue.why(%s)", mail)

    assert told == (
        "there is no such email here: old ones are in the archive; to read it:"
        f" mailqueue archive read --kind email_history --having {mail}"
    )


async def test_a_second_run_finds_nothing_to_do(desk: MaintenanceContext, warm: Path) -> None:
    await old(desk.conn, 5)
    await archive_task.run(desk)
    before = stored_mail.lines(warm)

    report = await archive_task.run(desk)

    assert report.counts["files"] == 0
    assert stored_mail.lines(warm) == before


async def test_young_mail_stays(desk: MaintenanceContext, warm: Path) -> None:
    await sent(desk.conn, 5)

    await archive_task.run(desk)

    assert (await stored_mail.in_tables(desk.conn))["email_history"] == 5
    assert stored_mail.files(warm) == []


async def test_each_file_has_one_project_and_one_month(
    desk: MaintenanceContext, warm: Path
) -> None:
    """One project's records can be changed or deleted without touching another's."""
    await make.project(desk.conn, "shop")
    await old(desk.conn, 4)
    await old(desk.conn, 3, project="shop", days=240)

    await archive_task.run(desk)

    for path in stored_mail.files(warm):
        kind = path.parent.parent.name
        assert {each["project_id"] for each in stored_mail.records(path.parent, kind)} <= {
            path.name.partition(".")[0] for path in stored_mail.files(path.parent)
        }
    months = await make.rows(
        desk.conn,
        "SELECT p.name, count(DISTINCT a.month) FROM mailqueue.archives AS a"
        " JOIN mailqueue.projects AS p ON p.id = a.project_id WHERE a.kind = 'email_history'"
        " GROUP BY 1 ORDER BY 1",
    )
    assert months == [("default", 1), ("shop", 1)]


async def test_the_manifest_has_counts_and_hash_of_each_file(
    desk: MaintenanceContext, warm: Path
) -> None:
    await old(desk.conn, 7)

    await archive_task.run(desk)

    for path, records, size, sha256, first, last, month in await make.rows(
        desk.conn,
        "SELECT path, records, bytes, sha256, first_at, last_at, month FROM mailqueue.archives",
    ):
        packed = (warm / path).read_bytes()
        assert (size, sha256) == (len(packed), hashlib.sha256(packed).hexdigest())
        assert records == sum(stored_mail.lines_of(warm / path).values())
        assert month_of(month).since <= first <= last < month_of(month).until


async def test_a_project_may_keep_its_mail_longer_and_another_shorter(
    desk: MaintenanceContext,
) -> None:
    """Rows of one partition are archived at different times."""
    for name in ("long", "short"):
        await make.project(desk.conn, name)
        await sent(desk.conn, 3, project=name)
        await aged(desk.conn, project=name, days=120)
    await keep_days(desk.conn, "email_history", 300, 730, None)
    await desk.conn.execute(
        "SELECT * FROM mailqueue.change_retention('short', 'email_history', 30, NULL, NULL, 'test')"
    )

    await archive_task.run(desk)

    left = await make.rows(
        desk.conn,
        "SELECT DISTINCT p.name FROM mailqueue.email_history AS h"
        " JOIN mailqueue.projects AS p ON p.id = h.project_id",
    )
    assert left == [("long",)]
    assert await stored_mail.differences(desk.conn) == []


async def test_months_of_which_nothing_is_left_are_retired(desk: MaintenanceContext) -> None:
    await old(desk.conn, 5)
    await archive_task.run(desk)

    report = await partitions.run(desk)

    assert report.counts["retired"] >= 4  # a table each
    oldest = await make.scalar(
        desk.conn,
        "SELECT min(right(c.relname, 7)) FROM pg_inherits"
        " JOIN pg_class AS c ON c.oid = inhrelid"
        " WHERE inhparent = 'mailqueue.email_history'::regclass",
    )
    assert oldest >= await make.scalar(
        desk.conn, "SELECT to_char(now() - interval '2 months', 'YYYY_MM')"
    )


async def test_a_body_stays_while_a_mail_that_uses_it_is_queued(desk: MaintenanceContext) -> None:
    await old(desk.conn, 3)
    await desk.conn.execute(
        "SELECT mailqueue.resend_emails(project_id, ARRAY[id]) FROM mailqueue.email_history"
        " WHERE status = 'sent' LIMIT 1"
    )

    report = await archive_task.run(desk)

    assert (await stored_mail.in_tables(desk.conn))["email_contents"] == 1
    assert report.needs == ()
    assert await make.scalar(
        desk.conn,
        "SELECT c.id = q.content_id FROM mailqueue.email_contents AS c, mailqueue.email_queue AS q",
    )


@pytest.mark.parametrize(("verb", "status"), [("requeue", "failed"), ("resend", "sent")])
async def test_mail_whose_body_has_left_is_not_sent_again(
    desk: MaintenanceContext, verb: str, status: str
) -> None:
    await sent(desk.conn, 12)
    await desk.conn.execute("DELETE FROM mailqueue.email_contents")

    query = f"SELECT count(*) FROM mailqueue.{verb}_emails(%s, ARRAY(%s))"
    ids = f"SELECT id FROM mailqueue.email_history WHERE status = '{status}'"
    project_id = await make.project_named(desk.conn)

    assert await make.scalar(desk.conn, query.replace("%s)", f"{ids})"), project_id) == 0
    assert (await stored_mail.in_tables(desk.conn))["email_history"] == 12


async def test_a_body_that_is_about_to_be_used_again_does_not_leave(
    desk: MaintenanceContext, database: DatabaseSettings
) -> None:
    """A resend has it locked; archiving waits, and then finds the mail that uses it."""
    project_id = await old(desk.conn, 3)
    resent = (
        "SELECT mailqueue.resend_emails(project_id, ARRAY[id]) FROM mailqueue.email_history"
        " WHERE status = 'sent' LIMIT 1"
    )
    await desk.conn.execute("SET lock_timeout = '60s'")
    async with connect(database) as hand:
        async with hand.transaction():
            await hand.execute(resent.encode())
            leaving = asyncio.create_task(archive_task.run(desk))
            await until(lambda: is_waiting(hand), seconds=60)
        report = await leaving

    assert report.needs == ()
    assert (await stored_mail.in_tables(desk.conn))["email_contents"] == 1
    assert project_id


async def is_waiting(conn: Conn) -> bool:
    query = (
        "SELECT count(*) > 0 FROM pg_locks JOIN pg_stat_activity USING (pid)"
        " WHERE NOT granted AND application_name = 'mailqueue/maintain'"
    )
    found: bool = await make.scalar(conn, query)
    return found


async def test_without_a_place_nothing_leaves_and_a_person_is_told(
    desk: MaintenanceContext,
) -> None:
    await old(desk.conn, 3)
    before = await stored_mail.in_tables(desk.conn)
    homeless = replace(desk, stores=ArchiveStores(ArchiveSettings(None, None)))

    report = await archive_task.run(homeless)

    assert "MAILQUEUE_ARCHIVE" in report.needs[0]
    assert await stored_mail.in_tables(desk.conn) == before


async def test_a_place_that_cannot_be_written_removes_nothing(
    desk: MaintenanceContext, warm: Path
) -> None:
    await old(desk.conn, 3)
    before = await stored_mail.in_tables(desk.conn)
    stored_mail.spoil(warm)

    [done] = await tasks.run(desk, [Task.ARCHIVE], tell=lambda _: None)

    assert done.needs_person
    assert await stored_mail.in_tables(desk.conn) == before
    assert await stored_mail.differences(desk.conn) == []
