"""The interface of storage for archive files and attachments."""

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from mailqueue.core.errors import MailqueueError


class FileMissing(MailqueueError):
    """A file that should exist is not in the store; the message names both."""


class Listed(NamedTuple):
    """A file in a store."""

    path: str
    bytes: int
    changed_at: datetime


class Store(Protocol):
    """Stores files under relative paths.

    A file survives a power failure once `put` has returned.
    """

    @property
    def url(self) -> str:
        """The store's URL, with which it can be opened again."""
        ...

    @property
    def drafts(self) -> Path | None:
        """The folder in which to prepare large files for `put`; None is any folder."""
        ...

    async def put(self, path: str, source: Path) -> None:
        """Store a file atomically, replacing an existing one; `source` may be moved.

        Raises:
            Unavailable: the store cannot be written now.
        """
        ...

    def chunks(self, path: str) -> AsyncIterator[bytes]:
        """Yield the bytes of a file in chunks.

        Raises:
            FileMissing: the file does not exist.
            Unavailable: the store cannot be read now.
        """
        ...

    def listed(self, folder: str) -> AsyncIterator[list[Listed]]:
        """Yield the files below a folder in batches; nothing if the folder does not exist.

        Raises:
            Unavailable: the store cannot be read now.
        """
        ...

    async def delete(self, path: str) -> None:
        """Delete a file; it is not an error if the file does not exist.

        Raises:
            Unavailable: the store cannot be written now.
        """
        ...
