"""Dependencies of the queue `domains`."""

from functools import partial

from mailqueue.deliverability.handler import DomainHandler
from mailqueue.deliverability.resolver import Resolver
from mailqueue.settings.environment import Settings


def domain_handler(settings: Settings) -> DomainHandler:
    """Return the handler of queue `domains`."""
    return DomainHandler(partial(Resolver, settings.name_servers))
