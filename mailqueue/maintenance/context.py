"""What a task works with."""

from dataclasses import dataclass, field
from typing import Protocol

from mailqueue.db import leases
from mailqueue.db.fetch import Conn
from mailqueue.db.leases import Lease
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.maintenance.model import Advance, Task
from mailqueue.ports.filestore import Store


class Stores(Protocol):
    """Where archive files and attachments go, and where they are."""

    @property
    def warm(self) -> Store | None:
        """Return the place of new files; None where none is set."""
        ...

    @property
    def cold(self) -> Store | None:
        """Return the place of old files."""
        ...

    @property
    def shelf(self) -> AttachmentStorage:
        """Return the places of attachments that are not in the database."""
        ...

    def at(self, url: str) -> Store:
        """Open the store of that address.

        Raises:
            ConfigError: it cannot be opened from here.
        """
        ...


@dataclass(frozen=True, slots=True)
class Desk:
    """Three connections as the schema's owner: one acts, one reads what is on its way out, one
    renews leases."""

    conn: Conn
    reader: Conn
    keeper: Conn
    stores: Stores
    host: str
    operator: str  # for the audit
    advance: Advance
    held: dict[Task, Lease] = field(default_factory=dict)

    async def insist(self, task: Task) -> None:
        """Keep the lease of a task from changing hands until the transaction ends.

        Raises:
            LeaseLost: another process may be at it by now.
        """
        if task in self.held:
            await leases.insist(self.conn, self.held[task])
