"""Files are loaded once for the mails that carry them, within the memory limit."""

from collections.abc import Sequence
from datetime import date
from email import message_from_bytes
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.mail.message.attachments import (
    MAX_GROUP_BYTES,
    AttachmentLoader,
    FileRef,
    count_within_memory,
)
from mailqueue.mail.message.build import SkeletonCache, build_message
from mailqueue.mail.model import Ending, FileFault, LoadedEmail
from mailqueue.mail.send.concurrency import AccountSlots
from mailqueue.mail.send.prepare import FILE_WAIT
from mailqueue.senders.model import MailDefaults
from tests.mail.claims import NOW, SENDER, claimed, loaded
from tests.mail.send.scripted import RecordedContext, ScriptedServer, introduce, sender_to, until

pytestmark = pytest.mark.anyio
PDF = b"%PDF-1.7 octets"


def ref(found: UUID, *, size: int = len(PDF), **changes: Any) -> dict[str, Any]:
    """Return the reference to a stored file, as a content has it."""
    described = {"id": str(found), "on": "2026-03-01", "name": "a.pdf", "type": "application/pdf"}
    return {**described, "bytes": size, **changes}


class FileStore:
    """Stored files; records which were read."""

    def __init__(self, *ids: UUID) -> None:
        self.octets = dict.fromkeys(ids, PDF)
        self.asked: list[list[UUID]] = []

    async def read(self, refs: Sequence[FileRef]) -> dict[UUID, bytes]:
        assert {one.on for one in refs} == {date(2026, 3, 1)}
        self.asked.append([one.id for one in refs])
        return {one.id: self.octets[one.id] for one in refs if one.id in self.octets}


def attachments(what: LoadedEmail) -> list[tuple[str | None, Any]]:
    letter = build_message(what, SkeletonCache(), identity=MailDefaults(SENDER), now=NOW)
    message = message_from_bytes(letter.message)
    return [
        (part.get_filename(), part.get_payload(decode=True))
        for part in message.walk()
        if part.get_filename()
    ]


async def test_a_mail_is_composed_with_its_files() -> None:
    one, two = uuid4(), uuid4()
    shelf = FileStore(one, two)
    what = loaded(files=[ref(one), ref(two, name="Rechnung ü.pdf")])

    (found,) = await AttachmentLoader(shelf.read).fetched([what])

    assert attachments(found) == [("a.pdf", PDF), ("Rechnung ü.pdf", PDF)]


async def test_a_file_that_many_mails_carry_is_read_once() -> None:
    one = uuid4()
    shelf = FileStore(one)
    files = AttachmentLoader(shelf.read)

    await files.fetched([loaded(files=[ref(one)]) for _ in range(3)])
    await files.fetched([loaded(files=[ref(one)])])

    assert shelf.asked == [[one]]


async def test_files_are_forgotten_when_they_grow_too_many() -> None:
    ids = [uuid4() for _ in range(3)]
    shelf = FileStore(*ids)
    files = AttachmentLoader(shelf.read, max_bytes=2 * len(PDF))

    for found in (*ids, ids[2], ids[0]):
        await files.fetched([loaded(files=[ref(found)])])

    assert shelf.asked == [[ids[0]], [ids[1]], [ids[2]], [ids[0]]]


async def test_a_mail_whose_file_was_deleted_fails_and_the_others_go() -> None:
    there = uuid4()
    recorded, server = RecordedContext(octets={there: PDF}), ScriptedServer()
    async with sender_to(server, recorded) as line:
        line.add([loaded(files=[ref(uuid4())]), loaded(files=[ref(there)]), loaded()])
        await until(lambda: len(recorded.settled) == 3)

    assert recorded.endings() == [Ending.FAILED, Ending.SENT, Ending.SENT]
    assert recorded.settled[0].reason == "its file a.pdf: it was deleted"


async def test_a_mail_whose_file_is_away_waits_and_the_others_go() -> None:
    away, there = uuid4(), uuid4()
    fault = FileFault("s3://files is away", is_lasting=False)
    recorded, server = RecordedContext(octets={away: fault, there: PDF}), ScriptedServer()
    async with sender_to(server, recorded) as line:
        line.add([loaded(files=[ref(away)]), loaded(files=[ref(there)])])
        await until(lambda: len(recorded.settled) == 2)

    waits = next(one for one in recorded.settled if one.ending is Ending.DEFER)
    assert (waits.reason, waits.wait) == ("its file a.pdf: s3://files is away", FILE_WAIT)
    assert Ending.SENT in recorded.endings()


async def test_mails_with_large_files_go_few_at_a_time() -> None:
    found = uuid4()
    large = [loaded(files=[ref(found, size=MAX_GROUP_BYTES // 2)]) for _ in range(7)]

    assert count_within_memory([loaded(), loaded()]) == 2
    assert count_within_memory(large) == 2
    assert (
        count_within_memory([loaded(files=[ref(found, size=2 * MAX_GROUP_BYTES)]), loaded()]) == 1
    )

    recorded, server = RecordedContext(octets={found: PDF}), ScriptedServer()
    async with sender_to(server, recorded) as line:
        await introduce(line, recorded)
        line.add(large)
        await until(lambda: len(recorded.settled) == 8)
        recorded.slots.mark_responsive(known := AccountSlots())
        assert await recorded.slots.take(6, known) == 6, "what was put back holds no slot"
    assert max(server.groups) == 2


async def test_nothing_is_fetched_for_ordinary_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = list[Sequence[LoadedEmail]]()

    async def fetch(_: AttachmentLoader, mails: Sequence[LoadedEmail]) -> Sequence[LoadedEmail]:
        fetched.append(mails)
        return mails

    monkeypatch.setattr(AttachmentLoader, "fetched", fetch)
    recorded = RecordedContext()
    async with sender_to(ScriptedServer(), recorded) as line:
        line.add([loaded(), LoadedEmail(claimed(), None)])
        await until(lambda: len(recorded.settled) == 2)

    assert recorded.endings() == [Ending.SENT, Ending.FAILED]
    assert fetched == []
