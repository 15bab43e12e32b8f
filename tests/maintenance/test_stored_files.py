"""Attachments in a folder: large ones are moved there, unreferenced ones are deleted."""

import hashlib
import os
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.message.verify_files import check_files
from mailqueue.maintenance import retention
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.tasks import open_context
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.attachments import AttachmentSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.files import ArchiveStores
from tests import make
from tests.maintenance import stored_mail
from tests.maintenance.old_mail import months_for

pytestmark = pytest.mark.anyio
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 20
LONG_AGO = 2600
"""Age in days: more than files are kept."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "files"


@pytest.fixture
def stores(folder: Path, warm: Path) -> ArchiveStores:
    attachments = AttachmentSettings((folder.as_uri(),), over_bytes=1000)
    return ArchiveStores(ArchiveSettings(warm.as_uri(), None), attachments)


@pytest.fixture
async def desk(
    database: DatabaseSettings, stores: ArchiveStores
) -> AsyncIterator[MaintenanceContext]:
    async with open_context(database, stores, operator="test", advance=lambda _: None) as opened:
        yield opened


def mail_with(octets: bytes = PDF) -> dict[str, object]:
    return {
        "attachments": [
            {
                "filename": "a.pdf",
                "content_type": "application/pdf",
                "content": b64encode(octets).decode(),
            }
        ]
    }


def found(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*-*") if path.is_file() and ".drafts" not in path.parts]


def aged(path: Path) -> Path:
    """Make a file older than any mail that is being accepted now."""
    long_ago = time.time() - 3 * 86400
    os.utime(path, (long_ago, long_ago))
    return path


def placed(path: Path, octets: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    stored_mail.fill(path, octets)
    return path


async def octets_left(conn: Conn) -> int:
    query = "SELECT count(*) FROM mailqueue.attachments WHERE octets IS NOT NULL"
    count: int = await make.scalar(conn, query)
    return count


async def test_large_files_handed_in_by_sql_are_brought_out_of_the_database(
    desk: MaintenanceContext, folder: Path
) -> None:
    await make.queued_email(desk.conn, **mail_with())
    await make.queued_email(desk.conn, **mail_with(b"%PDF-1.7 small"))

    report = await retention.run(desk)
    again = await retention.run(desk)

    assert (report.counts["moved"], again.counts["moved"]) == (1, 0)
    assert [path.read_bytes() for path in found(folder)] == [PDF]
    assert await octets_left(desk.conn) == 1
    checked = await check_files(desk.conn, desk.stores.attachments)
    assert (checked.files, checked.faults) == (1, ())


async def test_a_missing_and_a_damaged_file_are_told(
    desk: MaintenanceContext, folder: Path
) -> None:
    for number in range(3):
        await make.queued_email(desk.conn, **mail_with(PDF + b"%d" % number))
    await retention.run(desk)
    first, second, _ = found(folder)
    first.unlink()
    stored_mail.fill(second, b"other")

    checked = await check_files(desk.conn, desk.stores.attachments)

    assert checked.files == 3
    assert sum("is not in" in fault for fault in checked.faults) == 1
    assert sum("is damaged" in fault for fault in checked.faults) == 1


async def test_only_unreferenced_files_are_deleted(desk: MaintenanceContext, folder: Path) -> None:
    """A crash between writing a file and its row leaves an unreferenced file."""
    await make.queued_email(desk.conn, **mail_with())
    await retention.run(desk)
    (named,) = found(folder)
    place = named.parent
    name = f"{hashlib.sha256(PDF).hexdigest()}-0123456789ab"
    kept = [
        aged(named),
        placed(place / f"{name[:-1]}c", PDF),  # being accepted now
        aged(placed(place / "notes.txt", b"of somebody else's")),
        aged(placed(folder / str(uuid4()) / name, PDF)),  # of another database
    ]
    orphan = aged(placed(place / name, PDF))
    draft = aged(placed(folder / ".drafts" / "attachment-x", b"of a process that was killed"))

    report = await retention.run(desk)

    assert report.counts["files"] == 1
    assert [path.exists() for path in (orphan, draft, *kept)] == [False] * 2 + [True] * 4


async def test_a_file_that_no_mail_uses_is_deleted_unless_it_is_kept(
    desk: MaintenanceContext, folder: Path
) -> None:
    await make.queued_email(desk.conn, **mail_with())
    await make.queued_email(desk.conn, **mail_with(PDF + b"used"))
    await retention.run(desk)
    used, unused = sorted(found(folder), key=lambda path: path.stat().st_size, reverse=True)
    aged(used)
    aged(unused)
    await months_for(desk.conn, LONG_AGO)
    for statement in (
        "UPDATE mailqueue.attachments SET created_on = created_on - %s::integer",
        "UPDATE mailqueue.email_contents SET files = jsonb_set(files, '{0,on}',"
        " to_jsonb(((files -> 0 ->> 'on')::date - %s::integer)::text))",
    ):
        await desk.conn.execute(statement.encode(), (LONG_AGO,))
    smallest = "UPDATE mailqueue.email_contents SET files = NULL WHERE (files->0->>'bytes')::int=%s"
    await desk.conn.execute(smallest.encode(), (len(PDF),))

    report = await retention.run(desk)

    assert (report.counts["attachments"], report.counts["files"]) == (1, 1)
    assert found(folder) == [used]


async def test_an_upload_of_an_earlier_month_keeps_its_place_while_mail_uses_it(
    desk: MaintenanceContext, folder: Path
) -> None:
    await make.queued_email(desk.conn, **mail_with())
    await retention.run(desk)
    await months_for(desk.conn, LONG_AGO)
    await desk.conn.execute(
        "UPDATE mailqueue.attachments SET created_on = created_on - %s::integer", (LONG_AGO,)
    )
    old = await make.scalar(desk.conn, "SELECT id::text FROM mailqueue.attachments")
    await make.queued_email(desk.conn, attachments=[{"id": old, "filename": "b.pdf"}])
    await desk.conn.execute("UPDATE mailqueue.email_contents SET files = NULL WHERE id = 1")

    report = await retention.run(desk)

    assert (report.counts["attachments"], report.counts["files"]) == (1, 0)
    assert len(found(folder)) == 1
    checked = await check_files(desk.conn, desk.stores.attachments)
    assert (checked.files, checked.faults) == (1, ())


async def test_a_place_that_cannot_be_used_is_told_and_stops_nothing(
    desk: MaintenanceContext, folder: Path
) -> None:
    await make.queued_email(desk.conn, **mail_with())
    stored_mail.spoil(folder)

    report = await retention.run(desk)

    assert any(str(folder) in need for need in report.needs)
    assert await octets_left(desk.conn) == 1
