"""Dependencies of the queues `inboxes` and `notifications`."""

from functools import partial

from mailqueue.adapters.channels.slack.installing import SlackApp
from mailqueue.adapters.channels.slack.interactions import SlackReplies
from mailqueue.adapters.channels.slack.posting import API_URL, SlackChannel
from mailqueue.adapters.channels.twilio import posting
from mailqueue.adapters.channels.twilio.posting import WhatsAppChannel
from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.adapters.mailboxes.gmail.consents import (
    GOOGLE,
    GmailConsents,
    GoogleClient,
    google_at,
)
from mailqueue.adapters.mailboxes.gmail.push import GOOGLE_ISSUER, GmailPushes, PushSender
from mailqueue.adapters.mailboxes.gmail.reader import GmailReader
from mailqueue.adapters.mailboxes.imap import ImapReader
from mailqueue.adapters.oidc.documents import Fetcher
from mailqueue.adapters.oidc.keys import IssuerKeys
from mailqueue.ports.channel import PhoneSender
from mailqueue.ports.mailbox import InboxConsents, InboxPushes, MailboxReader
from mailqueue.settings.environment import Settings
from mailqueue.settings.gmail import GmailSettings
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch.delivering import NotificationHandler, NotificationTools
from mailqueue.watch.gmail import PUSH_PATH
from mailqueue.watch.scanning import ScanHandler, ScanTools


def scan_handler(settings: Settings) -> ScanHandler:
    """Return the handler of queue `inboxes`."""
    policy = NetworkPolicy(allowed_networks=settings.allowed_hosts)
    readers: dict[str, MailboxReader] = {"imap": ImapReader(policy)}
    if settings.gmail is not None:
        readers["gmail"] = GmailReader(
            _client_of(settings.gmail), policy, topic=settings.gmail.topic
        )
    return ScanHandler(ScanTools(readers, partial(master_key_of, settings)))


def inbox_consents(settings: Settings) -> InboxConsents | None:
    """Return what asks for consent at Google; None if this installation has no client there."""
    if settings.gmail is None:
        return None
    policy = NetworkPolicy(allowed_networks=settings.allowed_hosts)
    return GmailConsents(_client_of(settings.gmail), policy)


def inbox_pushes(settings: Settings) -> InboxPushes | None:
    """Return what reads pushes of Gmail; None if none are asked for."""
    gmail, url = settings.gmail, settings.tracking.public_url
    if gmail is None or gmail.push_account is None or url is None:
        return None
    issuer = gmail.url or GOOGLE_ISSUER
    fetcher = Fetcher(NetworkPolicy(allowed_networks=settings.allowed_hosts))
    sender = PushSender(issuer, f"{url.rstrip('/')}{PUSH_PATH}", gmail.push_account)
    return GmailPushes(sender, IssuerKeys(issuer, fetcher))


def _client_of(given: GmailSettings) -> GoogleClient:
    urls = GOOGLE if given.url is None else google_at(given.url)
    return GoogleClient(given.client_id, given.client_secret, urls)


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
        settings.channels.app_signing_secret is not None,
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


def phone_sender(settings: Settings) -> PhoneSender | None:
    """Return the sender at Twilio of the phones that persons connect; None where none is set."""
    given = settings.channels
    if (
        given.twilio_account_sid is None
        or given.twilio_auth_token is None
        or given.twilio_sender is None
        or given.twilio_template is None
    ):
        return None
    return PhoneSender(
        given.twilio_account_sid,
        given.twilio_auth_token,
        given.twilio_sender,
        given.twilio_template,
    )


def slack_replies(settings: Settings) -> SlackReplies:
    """Return what answers persons who pressed a button in Slack."""
    poster = HttpPoster(NetworkPolicy(allowed_networks=settings.allowed_hosts), posts_once=True)
    return SlackReplies(poster, other_origin=settings.channels.slack_url)
