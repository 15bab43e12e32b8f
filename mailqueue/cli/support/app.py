"""The context of commands that need the database: settings and one open connection."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from mailqueue.cli.support.settings import command_settings
from mailqueue.db.fetch import Conn
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import connect
from mailqueue.db.reported import reported
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import MasterKey, master_key_of

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Opened:
    """Settings and connection of one command."""

    settings: Settings
    conn: Conn

    def master_key(self) -> MasterKey | None:
        """Return the master key; None if none is set, which most commands allow."""
        return master_key_of(self.settings)


@asynccontextmanager
async def opened() -> AsyncIterator[Opened]:
    """Read the settings and open a connection for one command.

    Raises:
        ConfigError: an invalid setting, or a schema version this release does not support.
        Unavailable: PostgreSQL is unavailable, at the start or during the command.
    """
    settings = command_settings()
    with reported(settings.database):
        async with connect(settings.database, application_name="mailqueue/cli") as conn:
            await require_current(conn)
            yield Opened(settings, conn)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run the coroutine of a command to its end."""
    return asyncio.run(work)
