"""Pushes of Pub/Sub that say that an inbox at Gmail has changed: their tokens, and whose inbox.

Follows cloud.google.com/pubsub/docs/authenticate-push-subscriptions and
developers.google.com/gmail/api/guides/push, read in November 2026.
"""

import base64
import binascii
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from mailqueue.adapters.oidc.claims import fault_of
from mailqueue.adapters.oidc.keys import IssuerKeys
from mailqueue.adapters.oidc.tokens import verified_claims
from mailqueue.core.errors import Unauthorized
from mailqueue.settings.oidc import OidcSettings

GOOGLE_ISSUER = "https://accounts.google.com"
MAX_ADDRESS_CHARACTERS = 320


@dataclass(frozen=True, slots=True)
class PushSender:
    """Who pushes: the issuer of tokens, the audience of the subscription, its service account."""

    issuer: str
    audience: str
    account: str


class GmailPushes:
    """See `ports.mailbox.InboxPushes`."""

    def __init__(
        self, sender: PushSender, keys: IssuerKeys, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Prepare; `keys` are those of the issuer."""
        self._sender = sender
        self._keys = keys
        self._clock = clock

    async def address(self, authorization: str, body: bytes) -> str | None:
        """Return the address of the inbox that has changed."""
        await verified_claims(_bearer_in(authorization), self._keys, self._fault_of)
        return _address_in(body)

    def _fault_of(self, claims: dict[str, Any]) -> str | None:
        wanted = OidcSettings(self._sender.issuer, self._sender.audience)
        if (fault := fault_of(claims, wanted, now=self._clock())) is not None:
            return fault
        if claims.get("email_verified") is not True or claims.get("email") != self._sender.account:
            return "it is not of the service account that pushes (email)"
        return None


def _bearer_in(header: str) -> str:
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthorized("a bearer token is needed")
    return token


def _address_in(body: bytes) -> str | None:
    """Return the address in the message of a push; None if it has none. Pure."""
    try:
        message = orjson.loads(body)["message"]
        given = orjson.loads(base64.b64decode(message["data"], altchars=b"-_"))
        address = given["emailAddress"]
    except (orjson.JSONDecodeError, binascii.Error, KeyError, TypeError, ValueError):
        return None
    if not isinstance(address, str) or not 3 <= len(address) <= MAX_ADDRESS_CHARACTERS:
        return None
    return address.lower() if address.isprintable() else None
