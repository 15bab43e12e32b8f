"""Archived records are read, restored and changed; damaged files are found."""

from datetime import timedelta
from pathlib import Path

import pytest

from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.maintenance import partitions
from mailqueue.maintenance.archive import manifest
from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.archive.file_format import Record
from mailqueue.maintenance.archive.manifest import FileFilter
from mailqueue.maintenance.archive.restore import restore
from mailqueue.maintenance.archive.rewrite import rewrite
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Archive
from mailqueue.maintenance.store import archives as archives_store
from tests import make
from tests.maintenance import stored_mail
from tests.maintenance.old_mail import old

pytestmark = pytest.mark.anyio

ALL = FileFilter(project="default")
WEEK = timedelta(days=7)


async def restored(desk: MaintenanceContext, wanted: FileFilter = ALL) -> int:
    return sum([each.records async for each in manifest.bring_back(desk, wanted, keep=WEEK)])


async def verified(desk: MaintenanceContext) -> list[str | None]:
    return [each.fault async for each in manifest.verify(desk, FileFilter())]


async def the_file(desk: MaintenanceContext, kind: str = "email_history") -> Archive:
    [found] = await archives_store.in_states(
        desk.conn, ["archived", "verified", "restored"], kind=kind
    )
    return found


async def time_is_over(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.archives SET keep_until = now() WHERE state = 'restored'")


async def test_what_is_restored_is_what_was_there(desk: MaintenanceContext) -> None:
    await old(desk.conn, 12)
    odd = '{"big": 12345678901234567890123.456, "tiny": 1e-400, "text": "\\ud83d\\ude00 \\n"}'
    await desk.conn.execute("UPDATE mailqueue.email_history SET custom_data = %s::jsonb", (odd,))
    before = await stored_mail.everything(desk.conn)
    await archive_task.run(desk)
    await partitions.run(desk)

    count = await restored(desk)

    assert await stored_mail.everything(desk.conn) == before
    assert count == sum(map(len, before.values())) - len(before["email_recipients"])
    assert await stored_mail.differences(desk.conn) == []


async def test_restored_records_leave_again_when_the_time_is_over(
    desk: MaintenanceContext, warm: Path
) -> None:
    await old(desk.conn, 6)
    await archive_task.run(desk)
    before = stored_mail.lines(warm)
    await restored(desk)

    await archive_task.run(desk)
    assert (await stored_mail.in_tables(desk.conn))["email_history"] == 6
    await time_is_over(desk.conn)
    report = await archive_task.run(desk)

    assert report.needs == ()
    assert set((await stored_mail.in_tables(desk.conn)).values()) == {0}
    assert stored_mail.lines(warm) == before
    assert await stored_mail.differences(desk.conn) == []


async def test_restoring_twice_restores_once(desk: MaintenanceContext) -> None:
    await old(desk.conn, 5)
    await archive_task.run(desk)

    assert await restored(desk) > 0
    assert await restored(desk) == 0
    assert await stored_mail.differences(desk.conn) == []


async def test_mail_requeued_from_the_archive_is_in_no_file_any_more(
    desk: MaintenanceContext, warm: Path
) -> None:
    """It is unfinished again, and will be archived with its new outcome."""
    await old(desk.conn, 12)
    await archive_task.run(desk)
    await restored(desk)
    [(mail, project)] = await make.rows(
        desk.conn, "SELECT id, project_id FROM mailqueue.email_history WHERE status = 'failed'"
    )
    await desk.conn.execute("SELECT mailqueue.requeue_emails(%s, ARRAY[%s])", (project, mail))
    await time_is_over(desk.conn)

    report = await archive_task.run(desk)

    assert report.needs == ()
    assert str(mail) not in {each["id"] for each in stored_mail.records(warm, "email_history")}
    assert len(stored_mail.records(warm, "email_history")) == 11
    assert len([path for path in stored_mail.files(warm) if "/email_history/" in str(path)]) == 1
    assert await verified(desk) == [None] * len(await verified(desk))
    assert await stored_mail.differences(desk.conn) == []


async def test_a_record_deleted_by_hand_stays_in_the_file(
    desk: MaintenanceContext, warm: Path
) -> None:
    """The books show that rows were deleted by hand."""
    await old(desk.conn, 5)
    await archive_task.run(desk)
    await restored(desk)
    await desk.conn.execute(
        "DELETE FROM mailqueue.email_history WHERE recipient_email = 'person1@example.com'"
    )
    await time_is_over(desk.conn)

    await archive_task.run(desk)

    assert len(stored_mail.records(warm, "email_history")) == 5
    assert await stored_mail.differences(desk.conn) == [1]


async def test_records_are_changed_and_left_out_and_the_old_file_is_gone(
    desk: MaintenanceContext, warm: Path
) -> None:
    """By these functions a person is erased from the archive."""
    await old(desk.conn, 8)
    await archive_task.run(desk)
    before = await the_file(desk)

    def change(_: int, record: Record) -> bytes | None:
        match record.fields["recipient_email"]:
            case "person1@example.com":
                return None
            case "person2@example.com":
                return record.line.replace(b"person2@example.com", b"erased@example.com")
            case _:
                return record.line

    assert await rewrite(desk, before, change) == 2

    after = await the_file(desk)
    assert (after.records, after.revision) == (7, before.revision + 1)
    assert not (warm / before.path).exists()
    assert not any(
        "person1@" in line or "person2@" in line for line in stored_mail.lines_of(warm / after.path)
    )
    assert await verified(desk) == [None] * len(await verified(desk))


async def test_a_rewrite_that_changes_nothing_keeps_the_file(desk: MaintenanceContext) -> None:
    await old(desk.conn, 3)
    await archive_task.run(desk)
    before = await the_file(desk)

    assert await rewrite(desk, before, lambda _, record: record.line) == 0

    assert await the_file(desk) == before


async def test_a_file_that_is_not_whole_is_found(desk: MaintenanceContext, warm: Path) -> None:
    await old(desk.conn, 5)
    await archive_task.run(desk)
    path = warm / (await the_file(desk)).path
    other = next(each for each in stored_mail.files(warm) if each != path)

    for fault in stored_mail.FAULTS:
        with stored_mail.damaged(path, fault, other=other):
            [found] = [each for each in await verified(desk) if each]
            assert "email_history" in found
    assert not any(await verified(desk))


async def test_nothing_leaves_because_of_a_file_that_is_not_whole(
    desk: MaintenanceContext, warm: Path
) -> None:
    """The file is checked immediately before, also if another run has verified it."""
    await old(desk.conn, 5)
    await archive_task.run(desk)
    await restored(desk)
    await time_is_over(desk.conn)
    path = warm / (await the_file(desk)).path
    other = next(each for each in stored_mail.files(warm) if each != path)

    for fault in stored_mail.FAULTS:
        with stored_mail.damaged(path, fault, other=other):
            report = await archive_task.run(desk)
            assert any("email_history" in need for need in report.needs)
            assert (await stored_mail.in_tables(desk.conn))["email_history"] == 5
    assert (await archive_task.run(desk)).needs == ()
    assert (await stored_mail.in_tables(desk.conn))["email_history"] == 0


async def test_files_old_enough_are_purged_and_the_books_still_add_up(
    desk: MaintenanceContext, warm: Path
) -> None:
    await old(desk.conn, 5, days=300)
    await archive_task.run(desk)
    await desk.conn.execute(
        "UPDATE mailqueue.retention_rules SET warm_days = NULL, keep_days = 200"
        " WHERE keep_days > 400 AND hot_days = 90"
    )

    report = await archive_task.run(desk)

    assert report.counts["purged"] > 0
    assert stored_mail.files(warm) == []
    assert set(await stored_mail.states(desk.conn)) == {"purged"}
    assert await stored_mail.differences(desk.conn) == []
    with pytest.raises(NotFound):
        await restored(desk, FileFilter(ids=(1,)))


async def test_a_file_on_its_way_out_is_not_restored(desk: MaintenanceContext) -> None:
    await old(desk.conn, 3)
    await archive_task.run(desk)
    found = await the_file(desk)
    await desk.conn.execute(
        "UPDATE mailqueue.archives SET state = 'verified' WHERE id = %s", (found.id,)
    )

    with pytest.raises(NotFound):
        await restored(desk, FileFilter(ids=(found.id,)))
    with pytest.raises(Conflict):
        await restore(desk, await the_file(desk), keep=WEEK)


async def test_records_are_read_straight_from_the_files(desk: MaintenanceContext) -> None:
    await old(desk.conn, 5)
    await archive_task.run(desk)

    wanted = FileFilter(project="default", kind="email_history")
    found = [line async for line in manifest.read(desk, wanted, having="PERSON2@example.com")]

    assert len(found) == 1
    assert b"person2@example.com" in found[0]
