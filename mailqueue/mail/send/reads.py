"""What account senders read from the database: accounts, tags and files."""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.message.attachments import FileRef, read_stored
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.model import FileFault
from mailqueue.mail.send.context import SendAccount
from mailqueue.mail.send.store import claims as claims_store


class SendReads:
    """The reads of one worker process, on the connection of its claims."""

    def __init__(
        self,
        link: Link,
        *,
        read_account: Callable[[Conn, int], Awaitable[SendAccount]],
        storage: AttachmentStorage,
    ) -> None:
        self._link = link
        self._read_account = read_account
        self._storage = storage

    async def account(self, account_id: int) -> SendAccount:
        """Return a sender account and its transport."""
        return await self._link.call(lambda conn: self._read_account(conn, account_id))

    async def tags(self, ids: Sequence[UUID]) -> dict[UUID, tuple[str, ...]]:
        """Return the tags of those of these emails that have any."""
        found = await self._link.call(lambda conn: claims_store.read_tags(conn, list(ids)))
        return {one.id: tuple(one.tags) for one in found}

    async def files(self, refs: Sequence[FileRef]) -> dict[UUID, bytes | FileFault]:
        """Return the bytes of files, or a fault that says why one cannot be read."""
        ids, days = [ref.id for ref in refs], sorted({ref.on for ref in refs})
        stored = await self._link.call(
            lambda conn: claims_store.read_attachments(conn, ids, days=days)
        )
        return await read_stored(stored, self._storage)
