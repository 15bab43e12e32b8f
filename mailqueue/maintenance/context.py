"""The context of maintenance tasks."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from mailqueue.db import leases
from mailqueue.db.fetch import Conn
from mailqueue.db.leases import Lease
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.maintenance.model import Advance, Task
from mailqueue.ports.filestore import Store
from mailqueue.vault.masterkey import MasterKey

LoadMasterKey = Callable[[], MasterKey | None]
"""Returns the master key; None if none is set. Raises ConfigError for an invalid one."""


class Stores(Protocol):
    """The stores of archive files and attachments."""

    @property
    def warm(self) -> Store | None:
        """Return the store of new files; None where none is set."""
        ...

    @property
    def cold(self) -> Store | None:
        """Return the store of old files."""
        ...

    @property
    def attachments(self) -> AttachmentStorage:
        """Return the storage of attachments outside of the database."""
        ...

    def at(self, url: str) -> Store:
        """Return the store at a URL.

        Raises:
            ConfigError: it cannot be opened from here.
        """
        ...


@dataclass(frozen=True, slots=True)
class MaintenanceContext:
    """Three connections as the schema's owner: for statements, for streaming rows, for leases."""

    conn: Conn
    reader: Conn
    keeper: Conn
    stores: Stores
    host: str
    operator: str  # for the audit
    advance: Advance
    master_key: LoadMasterKey
    held: dict[Task, Lease] = field(default_factory=dict)

    async def call_with_retries(self, task: Task) -> None:
        """Lock the lease of a task until the transaction ends.

        Raises:
            LeaseLost: another process may hold it now.
        """
        if task in self.held:
            await leases.call_with_retries(self.conn, self.held[task])


OpenContext = Callable[[], AbstractAsyncContextManager[MaintenanceContext]]
"""Opens the context of tasks, as the schema's owner."""
