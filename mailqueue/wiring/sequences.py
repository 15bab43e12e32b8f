"""Dependencies of the queue `sequences`."""

from mailqueue.sequences.handler import SequenceHandler
from mailqueue.settings.environment import Settings


def sequence_handler(settings: Settings) -> SequenceHandler:  # noqa: ARG001
    """Return the handler of queue `sequences`."""
    return SequenceHandler()
