"""Dependencies of the queues `inboxes` and `notifications`."""

from functools import partial

from mailqueue.adapters.channels.slack.installing import SlackApp
from mailqueue.adapters.channels.slack.posting import API_URL, SlackChannel
from mailqueue.adapters.channels.twilio import posting
from mailqueue.adapters.channels.twilio.posting import WhatsAppChannel
from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.adapters.mailboxes.imap import ImapReader
from mailqueue.settings.environment import Settings
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch.delivering import NotificationHandler, NotificationTools
from mailqueue.watch.scanning import ScanHandler, ScanTools


def scan_handler(settings: Settings) -> ScanHandler:
    """Return the handler of queue `inboxes`."""
    reader = ImapReader(NetworkPolicy(allowed_networks=settings.allowed_hosts))
    return ScanHandler(ScanTools(reader, partial(master_key_of, settings)))


def notification_handler(settings: Settings) -> NotificationHandler:
    """Return the handler of queue `notifications`."""
    policy = NetworkPolicy(allowed_networks=settings.allowed_hosts)
    slack = SlackChannel(
        HttpPoster(policy, posts_once=True), api_url=settings.channels.slack_url or API_URL
    )
    whatsapp = WhatsAppChannel(
        HttpPoster(policy, posts_once=True), api_url=settings.channels.twilio_url or posting.API_URL
    )
    tools = NotificationTools(
        {"slack": slack, "whatsapp": whatsapp},
        partial(master_key_of, settings),
        settings.tracking.public_url,
    )
    return NotificationHandler(settings.database, tools)


def slack_app(settings: Settings) -> SlackApp | None:
    """Return the app that persons install in Slack; None where none is set."""
    given = settings.channels
    if given.slack_client_id is None or given.slack_client_secret is None:
        return None
    poster = HttpPoster(NetworkPolicy(allowed_networks=settings.allowed_hosts), posts_once=True)
    return SlackApp(
        given.slack_client_id, given.slack_client_secret, poster, given.slack_url or API_URL
    )
