"""The adapters of each provider in PROVIDERS: its sending API and its webhook events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.inbound import mailgun, postmark, relayed, resend, sendgrid, ses, smtp2go
from mailqueue.adapters.inbound.fetching import fetcher
from mailqueue.adapters.inbound.ses import FetchCertificate
from mailqueue.adapters.sending.api import ProviderAccount, ProviderApi
from mailqueue.adapters.sending.mailgun import Mailgun
from mailqueue.adapters.sending.postmark import Postmark
from mailqueue.adapters.sending.resend import Resend
from mailqueue.adapters.sending.sendgrid import SendGrid
from mailqueue.adapters.sending.ses import Ses
from mailqueue.adapters.sending.smtp2go import Smtp2go
from mailqueue.adapters.sending.tokens import gmail
from mailqueue.core.providers import Provider
from mailqueue.ports import inbound

Inbound = Callable[[FetchCertificate], inbound.InboundProvider]


@dataclass(frozen=True, slots=True)
class Adapters:
    """The two adapters of a provider; None if it has no API or sends no events."""

    sending: Callable[[ProviderAccount, NetworkPolicy], ProviderApi] | None = None
    inbound: Inbound | None = None


def _by_key(
    service: Callable[[ProviderAccount], ProviderApi],
) -> Callable[[ProviderAccount, NetworkPolicy], ProviderApi]:
    return lambda access, _reach: service(access)


def _alone(adapter: Callable[[], inbound.InboundProvider]) -> Inbound:
    return lambda _fetch: adapter()


ADAPTERS: Mapping[Provider, Adapters] = {
    Provider.SES: Adapters(_by_key(Ses), ses.SesEvents),
    Provider.SENDGRID: Adapters(_by_key(SendGrid), _alone(sendgrid.SendGridEvents)),
    Provider.MAILGUN: Adapters(_by_key(Mailgun), _alone(mailgun.MailgunEvents)),
    Provider.POSTMARK: Adapters(_by_key(Postmark), _alone(postmark.PostmarkEvents)),
    Provider.RESEND: Adapters(_by_key(Resend), _alone(resend.ResendEvents)),
    Provider.SMTP2GO: Adapters(_by_key(Smtp2go), _alone(smtp2go.Smtp2goEvents)),
    Provider.SMTP: Adapters(inbound=_alone(relayed.RelayedBounces)),
    Provider.GMAIL: Adapters(gmail),
}


def service_of(
    provider: Provider, access: ProviderAccount, *, policy: NetworkPolicy
) -> ProviderApi:
    """Return the adapter for the sending API of a provider.

    Raises:
        ValueError: the key is not of the kind that the provider needs.
        KeyError: the provider has no API.
    """
    sending = ADAPTERS[provider].sending if provider in ADAPTERS else None
    if sending is None:
        raise KeyError(provider.value)
    return sending(access, policy)


def providers(fetch: FetchCertificate | None = None) -> Mapping[str, inbound.InboundProvider]:
    """Return the adapters that read events, by the provider's name in the webhook URL.

    With `fetch` None, certificates are fetched over the network, from public addresses only.
    """
    fetch = fetch or fetcher()
    return {
        provider.value: each.inbound(fetch)
        for provider, each in ADAPTERS.items()
        if each.inbound is not None
    }
