"""The context shared by maintenance commands: settings and connections."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.settings import command_settings
from mailqueue.maintenance import tasks
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Advance
from mailqueue.vault.masterkey import master_key_of
from mailqueue.wiring.files import ArchiveStores


@asynccontextmanager
async def maintenance_context(advance: Advance) -> AsyncIterator[MaintenanceContext]:
    """Read the settings and open the connections that tasks use.

    Raises:
        ConfigError, Unavailable: as every command does.
    """
    settings = command_settings()
    opened = tasks.open_context(
        settings.database,
        ArchiveStores(settings.archive, settings.attachments),
        operator=operator(),
        advance=advance,
        master_key=partial(master_key_of, settings),
    )
    async with opened as desk:
        yield desk
