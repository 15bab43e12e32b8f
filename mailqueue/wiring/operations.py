"""Dependencies of the queue `operations`."""

from mailqueue.operations.handler import OperationHandler
from mailqueue.settings.environment import Settings


def operation_handler(settings: Settings) -> OperationHandler:
    """Return the handler of queue `operations`."""
    return OperationHandler(settings.database)
