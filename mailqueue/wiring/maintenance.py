"""Dependencies of the queues `erasures` and `maintenance`."""

from functools import partial

from mailqueue.maintenance import tasks
from mailqueue.maintenance.context import OpenContext
from mailqueue.maintenance.handler import MaintenanceHandler
from mailqueue.privacy.handler import ErasureHandler
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import master_key_of
from mailqueue.wiring.files import ArchiveStores

OPERATOR = "mailqueue"
"""Who runs tasks, in the audit."""


def erasure_handler(settings: Settings) -> ErasureHandler:
    """Return the handler of queue `erasures`."""
    return ErasureHandler(_context_of(settings))


def maintenance_handler(settings: Settings) -> MaintenanceHandler:
    """Return the handler of queue `maintenance`."""
    return MaintenanceHandler(_context_of(settings))


def _context_of(settings: Settings) -> OpenContext:
    return partial(
        tasks.open_context,
        settings.database,
        ArchiveStores(settings.archive, settings.attachments),
        operator=OPERATOR,
        advance=lambda _: None,
        master_key=partial(master_key_of, settings),
    )
