"""What archive and attachments need from a place for files."""

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from mailqueue.core.errors import MailqueueError


class FileMissing(MailqueueError):
    """A store does not have a file that it should have; the message names both."""


class Listed(NamedTuple):
    """A file that a store has."""

    path: str
    bytes: int
    changed_at: datetime


class Store(Protocol):
    """Keeps files under relative paths. What `put` returned from is there after a power failure."""

    @property
    def url(self) -> str:
        """Name the store, so that it can be opened again."""
        ...

    @property
    def drafts(self) -> Path | None:
        """Return a folder to prepare large files in, best for `put`; None: any will do."""
        ...

    async def put(self, path: str, source: Path) -> None:
        """Keep a file's bytes, all or nothing, in place of what was there; `source` may be moved.

        Raises:
            Unavailable: the store cannot be written now.
        """
        ...

    def chunks(self, path: str) -> AsyncIterator[bytes]:
        """Return the bytes of a file, a piece at a time.

        Raises:
            FileMissing: there is no such file.
            Unavailable: the store cannot be read now.
        """
        ...

    def listed(self, folder: str) -> AsyncIterator[list[Listed]]:
        """Return the files below a folder, some at a time; one that is not there has none.

        Raises:
            Unavailable: the store cannot be read now.
        """
        ...

    async def delete(self, path: str) -> None:
        """Delete a file; one that is not there is no error.

        Raises:
            Unavailable: the store cannot be written now.
        """
        ...
