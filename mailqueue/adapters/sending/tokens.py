"""OAuth access tokens for Gmail's API and for SMTP servers with XOAUTH2."""

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.sending.api import ProviderAccount
from mailqueue.adapters.sending.gmail import Gmail
from mailqueue.adapters.sending.oauth import ALL_MAIL, SEND_MAIL, Tokens, grant_of
from mailqueue.core.secret import Secret


def gmail(access: ProviderAccount, policy: NetworkPolicy) -> Gmail:
    """Return the Gmail API for a mailbox.

    Raises:
        ValueError: the key is neither a service account's key file nor a refresh token.
    """
    return Gmail(access, _tokens(access.secret, access, scope=SEND_MAIL, policy=policy))


def smtp_tokens(document: Secret, *, mailbox: str, token_url: str, policy: NetworkPolicy) -> Tokens:
    """Return the access tokens of an account at an SMTP server with XOAUTH2.

    Raises:
        ValueError: the document is neither a service account's key file nor a refresh token.
    """
    access = ProviderAccount(document, key_id=mailbox, settings={"token_url": token_url})
    return _tokens(document, access, scope=ALL_MAIL, policy=policy)


def _tokens(
    document: Secret, access: ProviderAccount, *, scope: str, policy: NetworkPolicy
) -> Tokens:
    grant = grant_of(
        document, mailbox=access.key_id, scope=scope, token_url=access.setting("token_url")
    )
    return Tokens(grant, policy)
