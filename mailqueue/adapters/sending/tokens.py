"""What logs in with access tokens: Gmail's API, and SMTP servers that ask for XOAUTH2."""

from mailqueue.adapters.http.model import Reach
from mailqueue.adapters.sending.gmail import Gmail
from mailqueue.adapters.sending.oauth import ALL_MAIL, SEND_MAIL, Tokens, grant_of
from mailqueue.adapters.sending.service import Access
from mailqueue.core.secret import Secret


def gmail(access: Access, reach: Reach) -> Gmail:
    """Return Gmail's service for a mailbox.

    Raises:
        ValueError: the key is neither a service account's key file nor a refresh token.
    """
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
