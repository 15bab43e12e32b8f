"""Which providers' events are understood, by the word in the URL they come to."""

from collections.abc import Mapping

from mailqueue.adapters.inbound.fetching import fetcher
from mailqueue.adapters.inbound.handed import Handed
from mailqueue.adapters.inbound.mailgun import Mailgun
from mailqueue.adapters.inbound.postmark import Postmark
from mailqueue.adapters.inbound.resend import Resend
from mailqueue.adapters.inbound.sendgrid import SendGrid
from mailqueue.adapters.inbound.ses import Fetch, Ses
from mailqueue.adapters.inbound.smtp2go import Smtp2go
from mailqueue.ports.inbound import Provider


def providers(fetch: Fetch | None = None) -> Mapping[str, Provider]:
    """Return all of them; `fetch` None asks the network, guarded."""
    known: tuple[Provider, ...] = (
        Ses(fetch or fetcher()),
        SendGrid(),
        Mailgun(),
        Postmark(),
        Resend(),
        Smtp2go(),
        Handed(),
    )
    return {one.name: one for one in known}
