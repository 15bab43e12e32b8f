"""The archive in S3-compatible storage: the same promises, over HTTP."""

import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mailqueue.adapters.filestores.s3 import S3Store
from mailqueue.core.errors import ConfigError, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.embedded.ports import free_port
from mailqueue.mail.accept.attachments import NewFile, keep
from mailqueue.mail.message.attachments import read_stored
from mailqueue.mail.model import FileFault
from mailqueue.mail.send.store.claims import read_attachments
from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.archive.manifest import FileFilter, bring_back, verify
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.tasks import open_context
from mailqueue.ports.filestore import FileMissing
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.attachments import AttachmentSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.files import ArchiveStores, attachment_storage
from tests import make
from tests.concurrency.running import until
from tests.maintenance import stored_mail
from tests.maintenance.old_mail import old
from tests.maintenance.test_back import WEEK

pytestmark = pytest.mark.anyio


def called(url: str, method: str = "GET") -> bool:
    """Return whether the server responded."""
    try:
        urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def storage() -> Iterator[str]:
    """A server with the S3 protocol."""
    port = free_port()
    words = ("-m", "moto.server", "-H", "127.0.0.1", "-p", str(port))
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        yield f"http://127.0.0.1:{port}"
        process.kill()


@pytest.fixture
async def endpoint(storage: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its address, with an empty bucket, and keys in the environment."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "example")
    monkeypatch.setenv("AWS_REGION", "us-east-1")

    async def answers() -> bool:
        return called(f"{storage}/moto-api/reset", "POST")

    await until(answers, seconds=60)
    assert called(f"{storage}/archive", "PUT")
    return storage


@pytest.fixture
async def desk(database: DatabaseSettings, endpoint: str) -> AsyncIterator[MaintenanceContext]:
    stores = ArchiveStores(ArchiveSettings("s3://archive/hot", "s3://archive/ice", endpoint))
    async with open_context(database, stores, operator="test", advance=lambda _: None) as opened:
        yield opened


async def test_records_leave_for_a_bucket_grow_cold_and_come_back(desk: MaintenanceContext) -> None:
    await old(desk.conn, 12)
    before = await stored_mail.everything(desk.conn)
    await archive_task.run(desk)
    await desk.conn.execute(
        "UPDATE mailqueue.retention_rules SET warm_days = hot_days WHERE warm_days IS NOT NULL"
    )

    report = await archive_task.run(desk)

    assert report.needs == ()
    assert report.counts["cooled"] == 4
    assert set((await stored_mail.in_tables(desk.conn)).values()) == {0}
    assert [each.fault async for each in verify(desk, FileFilter())] == [None] * 4
    assert {each.path.split("/")[0] async for each in verify(desk, FileFilter())} == {"cold"}
    assert [each async for each in bring_back(desk, FileFilter(project="default"), keep=WEEK)]
    assert await stored_mail.everything(desk.conn) == before


async def test_a_bucket_keeps_replaces_and_forgets_files(endpoint: str, tmp_path: Path) -> None:
    store = S3Store("s3://archive/some/where", endpoint=endpoint)
    for octets in (b"first", b"x" * 6_000_000):  # large ones go in parts
        source = tmp_path / "draft"
        stored_mail.fill(source, octets)
        await store.put("a/b.gz", source)
        assert b"".join([chunk async for chunk in store.chunks("a/b.gz")]) == octets
    await store.delete("a/b.gz")
    await store.delete("a/b.gz")

    with pytest.raises(FileMissing, match=r"a/b\.gz is not in s3://archive/some/where"):
        [chunk async for chunk in store.chunks("a/b.gz")]


async def test_attachments_lie_in_a_bucket_and_are_listed_there(
    database: DatabaseSettings, endpoint: str
) -> None:
    storage = attachment_storage(AttachmentSettings(("s3://archive/some/files",), 1000, endpoint))
    octets = b"%PDF-1.7\n" + bytes(range(256)) * 20

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with connect(database) as conn:
            yield conn

    async with connect(database) as conn:
        project = await make.project_named(conn)
        file = NewFile(None, "application/pdf", octets)
        kept = await keep(lend, storage, project_id=project, file=file)
        rows = await read_attachments(conn, [kept.id], days=[kept.created_on])
        listed = [one async for some in storage.places[0].listed(str(project)) for one in some]
        (read,) = (await read_stored(rows, storage)).values()
        await storage.places[0].delete(listed[0].path)
        (gone,) = (await read_stored(rows, storage)).values()

    assert read == octets
    assert [f"s3://archive/some/files/{one.path}" for one in listed] == [rows[0].location]
    assert listed[0].bytes == len(octets)
    assert isinstance(gone, FileFault)
    assert gone.is_lasting
    assert [some async for some in storage.places[0].listed("nobody")] == []


async def test_a_bucket_that_is_not_there_is_said(endpoint: str, tmp_path: Path) -> None:
    stored_mail.fill(tmp_path / "draft", b"x")

    with pytest.raises((Unavailable, FileMissing), match="s3://nowhere-at-all"):
        await S3Store("s3://nowhere-at-all", endpoint=endpoint).put("a", tmp_path / "draft")


def test_an_address_without_a_bucket_is_refused() -> None:
    with pytest.raises(ConfigError, match="s3://bucket/prefix"):
        S3Store("s3://")
