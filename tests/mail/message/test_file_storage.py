"""Large files are stored in a folder: written before their row, and checked when read."""

import hashlib
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.abc import Buffer
from psycopg.adapt import Loader

from mailqueue.adapters.filestores.folder import FolderStore
from mailqueue.core.errors import InvalidField, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.attachments import NewFile, keep, store_large
from mailqueue.mail.message.attachments import read_stored
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.model import FileFault
from mailqueue.mail.send.store import claims as claims_store
from tests import make

pytestmark = pytest.mark.anyio
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 20
SHA = hashlib.sha256(PDF).digest()


@pytest.fixture
def storage(tmp_path: Path) -> AttachmentStorage:
    return AttachmentStorage(
        [FolderStore(tmp_path / "new"), FolderStore(tmp_path / "old")], over_bytes=1000
    )


def lender(conn: Conn) -> Any:
    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        yield conn

    return lend


def stored(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and ".drafts" not in path.parts]


def inline(octets: bytes = PDF, **changes: Any) -> dict[str, Any]:
    return {
        "filename": "a.pdf",
        "content_type": "application/pdf",
        "content": b64encode(octets).decode(),
        **changes,
    }


async def kept(
    conn: Conn, storage: AttachmentStorage, *, name: str | None = None, octets: bytes = PDF
) -> UUID:
    project = await make.project_named(conn)
    file = NewFile(name, "application/pdf", octets)
    return (await keep(lender(conn), storage, project_id=project, file=file)).id


async def fetched(conn: Conn, storage: AttachmentStorage, found: UUID) -> bytes | FileFault:
    day = await make.scalar(conn, "SELECT created_on FROM mailqueue.attachments WHERE id=%s", found)
    rows = await claims_store.read_attachments(conn, [found], days=[day])
    return (await read_stored(rows, storage))[found]


async def test_a_large_file_lies_in_the_folder_and_a_small_one_in_the_database(
    conn: Conn, storage: AttachmentStorage, tmp_path: Path
) -> None:
    large, small = await kept(conn, storage), await kept(conn, storage, octets=b"%PDF-1.7 small")

    (path,) = stored(tmp_path / "new")
    assert path.read_bytes() == PDF
    assert path.stat().st_mode & 0o077 == 0
    columns = "SELECT octets IS NULL, location FROM mailqueue.attachments WHERE id = %s"
    assert await make.rows(conn, columns, large) == [(True, path.as_uri())]
    assert await make.rows(conn, columns, small) == [(False, None)]
    assert await fetched(conn, storage, large) == PDF
    assert await fetched(conn, storage, small) == b"%PDF-1.7 small"


class NoText(Loader):
    """A loader that refuses values in text format."""

    def load(self, data: Buffer) -> Any:
        raise AssertionError(f"{len(data)} bytes were read as text")


async def test_a_file_in_the_database_is_read_in_binary_format(
    conn: Conn, storage: AttachmentStorage
) -> None:
    """As text it is twice as large, and decoding it keeps the event loop from turning."""
    small = await kept(conn, storage, octets=b"%PDF-1.7 small")
    conn.adapters.register_loader("bytea", NoText)

    assert await fetched(conn, storage, small) == b"%PDF-1.7 small"


async def test_the_same_octets_are_written_once_under_any_name(
    conn: Conn, storage: AttachmentStorage, tmp_path: Path
) -> None:
    ids = [await kept(conn, storage, name=name) for name in (None, None, "a.pdf", "b.pdf")]

    assert len(stored(tmp_path)) == 1
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
    assert [await fetched(conn, storage, found) for found in ids] == [PDF] * 4


async def test_projects_share_no_file(
    conn: Conn, storage: AttachmentStorage, tmp_path: Path
) -> None:
    await kept(conn, storage)
    other = await make.project(conn, "other")
    await keep(lender(conn), storage, project_id=other, file=NewFile(None, "application/pdf", PDF))

    assert {path.parent.name for path in stored(tmp_path)} == {
        str(other),
        str(await make.project_named(conn)),
    }
    assert len(stored(tmp_path)) == 2


async def test_what_the_project_does_not_allow_is_never_written(
    conn: Conn, storage: AttachmentStorage, tmp_path: Path
) -> None:
    for octets, why in (
        (b"MZ" * 1000, "executable"),
        (PDF * 1000, "may have at most 4194304 bytes"),
    ):
        with pytest.raises(InvalidField, match=why):
            async with conn.transaction():
                await kept(conn, storage, octets=octets)

    assert stored(tmp_path) == []


async def test_nothing_names_a_file_that_could_not_be_written(
    conn: Conn, storage: AttachmentStorage, tmp_path: Path
) -> None:
    (tmp_path / "new").write_text("in the way")

    with pytest.raises(Unavailable, match="new"):
        await kept(conn, storage)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.attachments") == 0


async def test_a_mail_keeps_its_large_files_in_storage_and_the_same_key_means_the_same(
    conn: Conn, storage: AttachmentStorage
) -> None:
    project = await make.project_named(conn)
    given = [inline(content_id="x"), inline(b"%PDF-1.7 small"), inline(content="%%"), "text"]

    first = await store_large(lender(conn), storage, given, project_id=project)
    again = await store_large(lender(conn), storage, given, project_id=project)

    assert first == again
    assert set(first[0]) == {"id", "filename", "content_id"}
    assert first[1:] == given[1:], "what is wrong is said by the rules of mail"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("missing", "is not in"),
        ("cut", "is damaged"),
        ("longer", "is damaged"),
        ("other", "is dam"),
    ],
)
async def test_a_file_that_is_lost_fails_its_mail_and_says_what_to_do(
    conn: Conn, storage: AttachmentStorage, tmp_path: Path, fault: str, why: str
) -> None:
    found = await kept(conn, storage)
    (path,) = stored(tmp_path)
    octets = {"cut": PDF[:-1], "longer": PDF * 900, "other": PDF[:-1] + b"x"}
    path.unlink() if fault == "missing" else path.write_bytes(octets[fault])

    answer = await fetched(conn, storage, found)

    assert isinstance(answer, FileFault)
    assert answer.is_lasting
    assert why in answer.reason
    assert answer.reason.endswith(
        "restore it from a backup and requeue the email, or send it again"
    )


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_share_that_is_not_mounted_is_waited_for(
    conn: Conn, storage: AttachmentStorage, tmp_path: Path, is_there: bool
) -> None:
    found = await kept(conn, storage)
    mounted = (tmp_path / "new").rename(tmp_path / "share")
    if is_there:
        (tmp_path / "new").mkdir()

    answer = await fetched(conn, storage, found)

    assert isinstance(answer, FileFault)
    assert not answer.is_lasting
    assert "is it mounted?" in answer.reason
    assert stored(mounted), "nothing was lost"


async def test_a_file_of_a_place_that_is_not_named_here_is_waited_for(
    conn: Conn, storage: AttachmentStorage, tmp_path: Path
) -> None:
    found = await kept(conn, storage)

    answer = await fetched(conn, AttachmentStorage([FolderStore(tmp_path / "else")]), found)
    moved = await fetched(conn, AttachmentStorage(storage.places[::-1]), found)

    assert isinstance(answer, FileFault)
    assert not answer.is_lasting
    assert "in no store of MAILQUEUE_ATTACHMENT_STORE" in answer.reason
    assert moved == PDF, "further places are read"


async def test_no_row_has_a_file_outside_of_the_places_read(
    storage: AttachmentStorage, tmp_path: Path
) -> None:
    outside = tmp_path / "secret"
    outside.write_bytes(PDF)

    for location in (outside.as_uri(), f"{storage.places[0].url}/../secret"):
        answer = await storage.fetch(location, size=len(PDF), sha256=SHA)
        assert isinstance(answer, FileFault)
        assert "in no store" in answer.reason or "not a path inside" in answer.reason


async def test_a_place_that_was_away_is_left_alone_for_a_moment(tmp_path: Path) -> None:
    class Away(FolderStore):
        asked = 0

        async def chunks(self, path: str) -> AsyncIterator[bytes]:
            self.asked += 1
            raise Unavailable(f"{path} cannot be read")
            yield b""

    store_away = Away(tmp_path)
    storage = AttachmentStorage([store_away])
    place = f"{store_away.url}/{uuid4()}/x"

    answers = [await storage.fetch(place, size=1, sha256=SHA) for _ in range(3)]

    assert store_away.asked == 1
    assert all(isinstance(one, FileFault) and not one.is_lasting for one in answers)
