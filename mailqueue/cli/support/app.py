"""What commands that need the database share: settings and one open connection."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from mailqueue.db.fetch import Conn
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import connect
from mailqueue.db.reported import reported
from mailqueue.settings.environment import Settings, load_settings
from mailqueue.vault.masterkey import MasterKey, master_key_of

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Opened:
    """What a command works with."""

    settings: Settings
    conn: Conn

    def master_key(self) -> MasterKey | None:
        """Read the master key; None if none is set, which most commands do not mind."""
        return master_key_of(self.settings)


@asynccontextmanager
async def opened() -> AsyncIterator[Opened]:
    """Read the settings and open a connection for one command.

    Raises:
        ConfigError: a faulty setting, or a schema this code does not fit.
        Unavailable: PostgreSQL is away, before or meanwhile.
    """
    settings = load_settings()
    with reported(settings.database):
        async with connect(settings.database, application_name="mailqueue/cli") as conn:
            await require_current(conn)
            yield Opened(settings, conn)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's work to its end."""
    return asyncio.run(work)
