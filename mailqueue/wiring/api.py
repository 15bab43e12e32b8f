"""Dependencies of the HTTP API."""

from functools import partial

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.oidc.documents import Fetcher
from mailqueue.adapters.oidc.keys import IssuerKeys
from mailqueue.adapters.oidc.tokens import SignedTokens
from mailqueue.api.http.admin_auth import Administrators
from mailqueue.api.http.dependencies import Services
from mailqueue.core.outbound_guard import IpNetwork
from mailqueue.core.secret import Secret
from mailqueue.db.pool import Pool
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.ports.transport import Transport
from mailqueue.senders.model import SenderAccount
from mailqueue.senders.trial import OpenTransport
from mailqueue.settings.environment import Settings
from mailqueue.smtp.client.transcript import Transcript
from mailqueue.tracking.injector import TrackingInjector
from mailqueue.wiring.files import attachment_storage
from mailqueue.wiring.inbound import inbound_tools
from mailqueue.wiring.keyring import keyring_of
from mailqueue.wiring.sending import custom_smtp_transport, transport_for
from mailqueue.wiring.watch import (
    inbox_consents,
    inbox_pushes,
    phone_sender,
    slack_app,
    slack_replies,
)
from mailqueue.wiring.webhooks import poster_of


def trial_transports(settings: Settings) -> OpenTransport:
    """Return what opens the transport of a sender account that is tested."""

    def open_transport(
        account: SenderAccount, password: Secret | None, transcript: Transcript
    ) -> Transport:
        return transport_for(
            account, password, allowed_hosts=settings.allowed_hosts, transcript=transcript
        )

    return open_transport


def build_services(settings: Settings, pool: Pool) -> Services:
    """Return the services that the API's endpoints need."""
    keyring = keyring_of(settings)
    return Services(
        keyring=keyring,
        tracking=EmailTracking(TrackingInjector(keyring, settings.tracking)),
        admin_of=administrators_of(settings, pool).of,
        open_way=trial_transports(settings),
        inbound=inbound_tools(settings).providers,
        transport_of=partial(custom_smtp_transport, allowed_hosts=settings.allowed_hosts),
        make_poster=partial(poster_of, settings),
        slack_app=slack_app(settings),
        phone_sender=phone_sender(settings),
        slack_replies=slack_replies(settings),
        storage=attachment_storage(settings.attachments),
        inbox_consents=inbox_consents(settings),
        inbox_pushes=inbox_pushes(settings),
    )


def administrators_of(settings: Settings, pool: Pool) -> Administrators:
    """Return the authentication of administrators: by tokens, and by an OIDC issuer if one is
    set.
    """
    if settings.oidc is None:
        return Administrators(pool, settings.database)
    fetcher = issuer_fetcher(settings, settings.oidc.allowed_hosts)
    keys = IssuerKeys(settings.oidc.issuer, fetcher)
    return Administrators(pool, settings.database, SignedTokens(settings.oidc, keys))


def issuer_fetcher(settings: Settings, allowed: tuple[IpNetwork, ...]) -> Fetcher:
    """Return a fetcher of an issuer's documents, with private networks of the issuer's own."""
    return Fetcher(NetworkPolicy(allowed_networks=(*settings.allowed_hosts, *allowed)))
