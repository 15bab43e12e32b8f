"""Chooses a provider's service by its name."""

from collections.abc import Callable, Mapping

from mailqueue.adapters.http.model import Reach
from mailqueue.adapters.sending.gmail import Gmail
from mailqueue.adapters.sending.mailgun import Mailgun
from mailqueue.adapters.sending.oauth import ALL_MAIL, SEND_MAIL, Tokens, grant_of
from mailqueue.adapters.sending.postmark import Postmark
from mailqueue.adapters.sending.resend import Resend
from mailqueue.adapters.sending.sendgrid import SendGrid
from mailqueue.adapters.sending.service import Access, Service
from mailqueue.adapters.sending.ses import Ses
from mailqueue.adapters.sending.smtp2go import Smtp2go
from mailqueue.core.secret import Secret

SERVICE_BY_PROVIDER: Mapping[str, Callable[[Access], Service]] = {
    "ses": Ses,
    "sendgrid": SendGrid,
    "mailgun": Mailgun,
    "postmark": Postmark,
    "resend": Resend,
    "smtp2go": Smtp2go,
}


def service_of(provider: str, access: Access, *, reach: Reach) -> Service:
    """Return the service of a provider with an HTTP API.

    Raises:
        ValueError: the key is not of the kind the provider needs.
        KeyError: there is no such provider.
    """
    if provider != "gmail":
        return SERVICE_BY_PROVIDER[provider](access)
    return Gmail(access, _tokens(access.secret, access, scope=SEND_MAIL, reach=reach))


def smtp_tokens(document: Secret, *, mailbox: str, token_url: str, reach: Reach) -> Tokens:
    """Return what logs in at an SMTP server that takes access tokens.

    Raises:
        ValueError: the document is neither a service account's key file nor a refresh token.
    """
    access = Access(document, key_id=mailbox, settings={"token_url": token_url})
    return _tokens(document, access, scope=ALL_MAIL, reach=reach)


def _tokens(document: Secret, access: Access, *, scope: str, reach: Reach) -> Tokens:
    grant = grant_of(
        document, mailbox=access.key_id, scope=scope, token_url=access.setting("token_url")
    )
    return Tokens(grant, reach)
