"""Dependencies of the queue `imports`."""

from mailqueue.imports.handler import ImportHandler
from mailqueue.settings.environment import Settings


def import_handler(settings: Settings) -> ImportHandler:
    """Return the handler of queue `imports`."""
    return ImportHandler(settings.database)
