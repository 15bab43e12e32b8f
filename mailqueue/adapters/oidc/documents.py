"""Fetches the JSON documents of an issuer, bounded in size and time, from allowed addresses.

Follows OpenID Connect Discovery 1.0 sections 3 and 4, read in November 2026. Redirects are not
followed.
"""

import ssl
from typing import Any
from urllib.parse import urlsplit

from mailqueue.adapters.http.connection import connect
from mailqueue.adapters.http.model import (
    HttpOrigin,
    HttpRequest,
    HttpResponse,
    HttpTimeouts,
    NetworkPolicy,
    read_origin,
)
from mailqueue.core.errors import Unavailable
from mailqueue.core.verdict import Rejected
from mailqueue.settings.oidc import check_address
from mailqueue.smtp.client.trust import system_trust

TIMEOUTS = HttpTimeouts(connect_s=5.0, read_s=5.0, call_s=10.0)
MAX_BYTES = 256 * 1024
WELL_KNOWN = "/.well-known/openid-configuration"


class Fetcher:
    """Fetches documents of one issuer, each over a new connection."""

    def __init__(
        self,
        policy: NetworkPolicy,
        *,
        timeouts: HttpTimeouts = TIMEOUTS,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy
        self._timeouts = timeouts
        self._tls_context = tls_context

    async def keys_address(self, issuer: str) -> str:
        """Return the issuer's jwks_uri.

        Raises:
            Unavailable: the configuration document has none, or names another issuer.
        """
        document = await self.configuration(issuer)
        address = document.get("jwks_uri")
        if not isinstance(address, str):
            raise Unavailable(f"the configuration of {issuer} has no jwks_uri")
        return address

    async def configuration(self, issuer: str) -> dict[str, Any]:
        """Return the issuer's configuration document.

        Raises:
            Unavailable: it cannot be fetched, or names another issuer.
        """
        document = await self.document(issuer.rstrip("/") + WELL_KNOWN)
        if document.get("issuer") != issuer:
            raise Unavailable(
                f"the configuration of {issuer} names another issuer: check its spelling"
            )
        return document

    async def document(self, url: str, *headers: tuple[str, str]) -> dict[str, Any]:
        """Return the JSON object at a URL.

        Raises:
            Unavailable: it cannot be fetched; the message says why.
        """
        response = await self.exchange(url, "GET", *headers)
        if response.status != 200:
            raise Unavailable(
                f"the issuer at {_origin(url).authority} responds with HTTP {response.status}"
            )
        return object_of(response, url)

    async def exchange(
        self, url: str, method: str, *headers: tuple[str, str], body: bytes = b""
    ) -> HttpResponse:
        """Return the response to one request, whatever its status.

        Raises:
            Unavailable: the URL is not one to be fetched, or no response came.
        """
        site, parts = _origin(url), urlsplit(url)
        is_secure = site.scheme == "https"
        if is_secure and self._tls_context is None:
            self._tls_context = await system_trust()
        context = self._tls_context if is_secure else None
        wire = await connect(site, self._policy, timeouts=self._timeouts, context=context)
        if isinstance(wire, Rejected):
            raise Unavailable(f"the issuer at {site.authority}: {wire.detail}")
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        call = HttpRequest(method, target, (("Accept", "application/json"), *headers), body)
        try:
            answer = await wire.ask(call, may_finish=lambda: True)
        finally:
            wire.close()
        if isinstance(answer, Rejected):
            raise Unavailable(f"the issuer at {site.authority}: {answer.detail}")
        return answer


def object_of(response: HttpResponse, url: str) -> dict[str, Any]:
    """Return the JSON object in a response. Pure.

    Raises:
        Unavailable: it is not one, or longer than MAX_BYTES.
    """
    found = response.document() if len(response.body) <= MAX_BYTES else None
    if not isinstance(found, dict):
        raise Unavailable(
            f"the issuer at {_origin(url).authority} does not respond with a JSON object"
        )
    return found


def _origin(url: str) -> HttpOrigin:
    try:
        check_address(url)
        parts = urlsplit(url)
        return read_origin(f"{parts.scheme}://{parts.netloc}")
    except ValueError as exc:
        raise Unavailable(f"the issuer's URL {url[:200]!r}: {exc}") from None
