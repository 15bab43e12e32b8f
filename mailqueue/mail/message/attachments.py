"""Loads the files of emails, no more at once than memory allows."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.db.faults import concerns_rows
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.model import FileFault, LoadedEmail, RawMessage, StoredFile
from mailqueue.mime.files import MessageFile
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)

MAX_CACHED_BYTES = 16 * 1024 * 1024
"""Bytes of files cached for later emails that carry the same ones."""
MAX_GROUP_BYTES = 8 * 1024 * 1024
"""Bytes of files of the emails in one group; an email with more is sent alone."""


class FileRef(NamedTuple):
    """Reference to a file of a content; `on` is the day it was stored."""

    id: UUID
    on: date
    name: str
    content_type: str
    content_id: str
    bytes: int
    is_raw: bool = False  # the whole message, not a file of it
    has_null_sender: bool = False


ReadOctets = Callable[[Sequence[FileRef]], Awaitable[Mapping[UUID, bytes | FileFault]]]
_GONE = FileFault("it was deleted", is_lasting=True)


async def read_stored(
    stored: Sequence[StoredFile], storage: AttachmentStorage
) -> dict[UUID, bytes | FileFault]:
    """Return the bytes of files, from the database or from attachment storage."""
    found: dict[UUID, bytes | FileFault] = {}
    for one in stored:
        if one.octets is not None:
            found[one.id] = one.octets
        elif one.location is not None:
            found[one.id] = await storage.fetch(one.location, size=one.bytes, sha256=one.sha256)
    return found


class AttachmentLoader:
    """Loads files right before their messages are built; caches the latest."""

    def __init__(self, read: ReadOctets, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._read = read
        self._most_bytes = max_bytes
        self._kept: OrderedDict[UUID, bytes] = OrderedDict()
        self._bytes = 0

    async def fetched(self, mails: Sequence[LoadedEmail]) -> list[LoadedEmail]:
        """Return the emails with their files; one whose files cannot be read has a fault."""
        try:
            return await self._fetched(mails)
        except Exception as exc:
            if not concerns_rows(exc):
                raise
            if len(mails) == 1:
                (mail,) = mails
                log.exception("files.failed", email_id=str(mail.claim.id))
                reason = f"{type(exc).__name__} while its files were fetched"
                return [mail._replace(fault=FileFault(reason, is_lasting=False))]
        # One of them caused the error: alone it fails alone.
        return [one for mail in mails for one in await self.fetched([mail])]

    async def _fetched(self, mails: Sequence[LoadedEmail]) -> list[LoadedEmail]:
        mails = [_checked(mail) for mail in mails]
        wanted = {ref.id: ref for mail in mails for ref in refs_of(mail)}
        octets: dict[UUID, bytes | FileFault] = {
            found: self._kept[found] for found in wanted if found in self._kept
        }
        missing = [ref for ref in wanted.values() if ref.id not in octets]
        if missing:
            octets.update(await self._read(missing))
        self._keep(octets)
        return [with_files(mail, octets) for mail in mails]

    def _keep(self, octets: Mapping[UUID, bytes | FileFault]) -> None:
        for found, content in octets.items():
            if isinstance(content, FileFault):
                continue
            if found not in self._kept:
                self._bytes += len(content)
            self._kept[found] = content
            self._kept.move_to_end(found)
        while self._bytes > self._most_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest)


def bytes_of_files(mail: LoadedEmail) -> int:
    """Return the size of the email's files in bytes; 0 if they cannot be read. Pure."""
    return sum(ref.bytes for ref in refs_of(_checked(mail)))


def count_within_memory(mails: Sequence[LoadedEmail]) -> int:
    """Return how many of the emails, from the first, may be loaded at once; at least 1."""
    total = 0
    for place, mail in enumerate(mails):
        total += bytes_of_files(mail)
        if total > MAX_GROUP_BYTES and place > 0:
            return place
    return len(mails)


def with_files(mail: LoadedEmail, octets: Mapping[UUID, bytes | FileFault]) -> LoadedEmail:
    """Return the email with its files, or with a fault if one is missing. Pure."""
    files: list[MessageFile] = []
    for ref in refs_of(mail):
        found = octets.get(ref.id, _GONE)
        if isinstance(found, FileFault):
            return mail._replace(
                fault=FileFault(f"its file {ref.name}: {found.reason}", found.is_lasting)
            )
        if ref.is_raw:
            return mail._replace(raw=RawMessage(found, ref.has_null_sender))
        files.append(MessageFile(ref.name, ref.content_type, found, content_id=ref.content_id))
    return mail._replace(files=tuple(files))


def refs_of(mail: LoadedEmail) -> list[FileRef]:
    """Return the references to the email's files; none if it has a fault. Pure.

    Raises:
        ValueError: the references cannot be read.
    """
    if mail.content is None or mail.content.files is None or mail.fault is not None:
        return []
    try:
        return [_ref(one) for one in mail.content.files]
    except (TypeError, KeyError, AttributeError, ValueError) as exc:
        raise ValueError("its list of files cannot be read") from exc


def _checked(mail: LoadedEmail) -> LoadedEmail:
    try:
        refs_of(mail)
    except ValueError as exc:
        return mail._replace(fault=FileFault(str(exc), is_lasting=True))
    return mail


def _ref(one: Mapping[str, Any]) -> FileRef:
    return FileRef(
        id=UUID(one["id"]),
        on=date.fromisoformat(one["on"]),
        name=one["name"],
        content_type=one["type"],
        content_id=one.get("cid", ""),
        bytes=int(one["bytes"]),
        is_raw=one.get("raw", False),
        has_null_sender=one.get("null_sender", False),
    )
