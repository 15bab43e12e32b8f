"""Dependencies of the webhook worker."""

from functools import partial

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import master_key_of
from mailqueue.webhooks.handler import WebhookHandler, WebhookTools


def poster_of(settings: Settings) -> HttpPoster:
    """Return the HTTP client that posts to webhooks, through the outbound guard."""
    return HttpPoster(NetworkPolicy(allowed_networks=settings.allowed_hosts))


def webhook_tools(settings: Settings) -> WebhookTools:
    """Return the dependencies of the webhook worker."""
    return WebhookTools(poster_of(settings), partial(master_key_of, settings))


def webhook_handler(settings: Settings) -> WebhookHandler:
    """Return the handler of queue `webhooks`."""
    return WebhookHandler(webhook_tools(settings))
