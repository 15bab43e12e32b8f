"""Dependencies of the queues of contacts."""

from mailqueue.contacts.sends.handler import ListSendHandler
from mailqueue.settings.environment import Settings


def list_send_handler(settings: Settings) -> ListSendHandler:
    """Return the handler of queue `list-sends`."""
    return ListSendHandler(settings.database)
