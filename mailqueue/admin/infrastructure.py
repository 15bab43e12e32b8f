"""Tables, disks and maintenance of the installation, for administrators."""

import asyncio
import time
from collections.abc import Sequence

from mailqueue.admin import store
from mailqueue.contract.infrastructure import DiskUsage, MaintenanceRun, TablePartition
from mailqueue.db.fetch import Conn

MAX_TABLES = 10
"""Tables that are listed by size."""
STORAGE_SECONDS = 30.0
"""Age in seconds up to which sizes are shown again without reading."""


async def partitions(conn: Conn) -> list[TablePartition]:
    """Return the monthly tables, oldest first."""
    return await store.partition_board(conn)


async def disk(conn: Conn) -> DiskUsage:
    """Return the size of the database, and what is left of its disks."""
    return await store.disk_board(conn, tables=MAX_TABLES)


async def tasks(conn: Conn) -> list[MaintenanceRun]:
    """Return the maintenance tasks, by name."""
    return await store.task_board(conn)


class Storage:
    """Sizes of tables and disks, read once for all who look at them in a while."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._read_at = float("-inf")
        self._partitions: Sequence[TablePartition] = ()
        self._disk: DiskUsage | None = None

    async def current(self, conn: Conn) -> tuple[Sequence[TablePartition], DiskUsage]:
        """Return the monthly tables and the disks."""
        async with self._turn:
            if self._disk is None or time.monotonic() - self._read_at >= STORAGE_SECONDS:
                self._partitions, self._disk = await partitions(conn), await disk(conn)
                self._read_at = time.monotonic()
            return self._partitions, self._disk
