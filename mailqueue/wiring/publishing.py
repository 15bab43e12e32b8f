"""Dependencies of the queue `publishing`."""

from functools import partial

from mailqueue.publishing.handler import PublishingHandler
from mailqueue.publishing.webhook import WebhookPublisher
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import master_key_of
from mailqueue.wiring.bridge import publishers_of
from mailqueue.wiring.webhooks import poster_of


def publishing_handler(settings: Settings) -> PublishingHandler:
    """Return the handler of queue `publishing`."""
    webhooks = WebhookPublisher(poster_of(settings), partial(master_key_of, settings))
    return PublishingHandler(webhooks, publishers_of(settings.rabbitmq))
