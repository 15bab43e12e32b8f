"""Dependencies of the console: what it builds messages from, and the issuer of logins."""

from mailqueue.adapters.oidc.keys import IssuerKeys
from mailqueue.adapters.oidc.login import OidcProvider
from mailqueue.mail.message.preview import MessageSources
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.ports.identity import LoginProvider
from mailqueue.settings.environment import Settings
from mailqueue.templates.cache import TemplateCache
from mailqueue.tracking.injector import TrackingInjector
from mailqueue.wiring.api import issuer_fetcher
from mailqueue.wiring.files import attachment_storage
from mailqueue.wiring.keyring import keyring_of


def message_sources(settings: Settings) -> MessageSources:
    """Return the attachment storage, templates and tracking of messages that are shown."""
    return MessageSources(
        attachment_storage(settings.attachments),
        TemplateCache(),
        EmailTracking(TrackingInjector(keyring_of(settings), settings.tracking)),
    )


def login_provider(settings: Settings) -> LoginProvider | None:
    """Return the issuer at which people log in to the console; None if none is set."""
    wanted = settings.console.oidc
    if wanted is None:
        return None
    fetcher = issuer_fetcher(settings, wanted.allowed_hosts)
    return OidcProvider(wanted, fetcher, IssuerKeys(wanted.issuer, fetcher))
