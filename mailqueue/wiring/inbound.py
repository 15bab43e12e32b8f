"""Dependencies of the worker that reads events of providers."""

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.inbound.fetching import fetcher
from mailqueue.adapters.providers import providers
from mailqueue.inbound.handler import InboundHandler, InboundTools
from mailqueue.settings.environment import Settings
from mailqueue.tracking.origins import OriginFinder
from mailqueue.wiring.keyring import keyring_of


def inbound_tools(settings: Settings) -> InboundTools:
    """Return the dependencies of the inbound worker."""
    fetch = fetcher(NetworkPolicy(allowed_networks=settings.allowed_hosts))
    origins = OriginFinder(settings.tracking.country_file)
    return InboundTools(providers(fetch), fetch, keyring_of(settings), origins)


def inbound_handler(settings: Settings) -> InboundHandler:
    """Return the handler of queue `inbound`."""
    return InboundHandler(settings.database, inbound_tools(settings))
