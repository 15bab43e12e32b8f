"""Dependencies of the queue `domains`."""

from functools import partial

from mailqueue.domains.handler import DomainHandler
from mailqueue.domains.resolver import Resolver
from mailqueue.settings.environment import Settings


def domain_handler(settings: Settings) -> DomainHandler:
    """Return the handler of queue `domains`."""
    return DomainHandler(partial(Resolver, settings.name_servers))
