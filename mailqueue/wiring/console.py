"""The console and its dependencies: its messages, the issuer of logins, and the mail of links."""

from functools import partial

from mailqueue.adapters.oidc.keys import IssuerKeys
from mailqueue.adapters.oidc.login import OidcProvider
from mailqueue.adapters.sending.smtp import SmtpAccount, SmtpTransport
from mailqueue.admin.users.mailing import LinkMailer
from mailqueue.api.http.dependencies import Services
from mailqueue.console.app import Pages, console_routes
from mailqueue.core.address import parse_address
from mailqueue.db.pool import Pool
from mailqueue.db.replica import Replica
from mailqueue.mail.message.preview import MessageSources
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.ports.identity import LoginProvider
from mailqueue.settings.environment import Settings
from mailqueue.smtp.client.session import TlsMode
from mailqueue.templates.cache import TemplateCache
from mailqueue.tracking.injector import TrackingInjector
from mailqueue.wiring.api import issuer_fetcher, trial_transports
from mailqueue.wiring.files import attachment_storage
from mailqueue.wiring.keyring import keyring_of
from mailqueue.wiring.webhooks import poster_of


def console_pages(
    settings: Settings, pool: Pool, *, replica: Replica | None, services: Services | None = None
) -> Pages:
    """Return the routes of the console; `services` are those of the API in the same process."""
    return console_routes(
        settings,
        pool,
        message_sources(settings),
        issuer=login_provider(settings),
        link_mailer=link_mailer(settings),
        open_transport=trial_transports(settings),
        activity=None if services is None else services.activity,
        compile_process=None if services is None else services.compile_process,
        make_poster=partial(poster_of, settings),
        replica=replica,
    )


def message_sources(settings: Settings) -> MessageSources:
    """Return the attachment storage, templates and tracking of messages that are shown."""
    return MessageSources(
        attachment_storage(settings.attachments),
        TemplateCache(),
        EmailTracking(TrackingInjector(keyring_of(settings), settings.tracking)),
    )


def link_mailer(settings: Settings) -> LinkMailer | None:
    """Return what mails links to users of the console; None if no server is set."""
    wanted = settings.console.mail
    if wanted is None or settings.console.url is None:
        return None
    account = SmtpAccount(
        wanted.host,
        wanted.port,
        TlsMode(wanted.tls),
        wanted.username,
        wanted.password,
        allow_private=True,
    )
    return LinkMailer(
        lambda: SmtpTransport(account), parse_address(wanted.sender), settings.console.url
    )


def login_provider(settings: Settings) -> LoginProvider | None:
    """Return the issuer at which people log in to the console; None if none is set."""
    wanted = settings.console.oidc
    if wanted is None:
        return None
    fetcher = issuer_fetcher(settings, wanted.allowed_hosts)
    return OidcProvider(wanted, fetcher, IssuerKeys(wanted.issuer, fetcher))
