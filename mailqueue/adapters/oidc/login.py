"""Logs people in at an issuer: authorization code flow with PKCE.

Follows OpenID Connect Core 1.0 section 3.1, RFC 6749, 7636, 9207 and 9700, read in November 2026.
"""

import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from mailqueue.adapters.oidc.claims import (
    LEEWAY_SECONDS,
    at,
    called,
    is_of_access_token,
    logged_in_at,
    login_fault_of,
    values_of,
)
from mailqueue.adapters.oidc.documents import Fetcher, object_of
from mailqueue.adapters.oidc.keys import (
    FRESH_SECONDS,
    MAX_CACHE_SECONDS,
    RETRY_SECONDS,
    IssuerKeys,
)
from mailqueue.adapters.oidc.tokens import signed_by, verified_claims
from mailqueue.core.errors import Unauthorized, Unavailable
from mailqueue.ports.identity import IssuerIdentity, LoginFlow
from mailqueue.settings.oidc import OidcLogin, OidcSettings, check_address

MAX_CODE_CHARACTERS = 2_000
ANEW_SECONDS = 120
"""Seconds since a login at the issuer that still counts as a new one."""
_FORM = ("Content-Type", "application/x-www-form-urlencoded")
_REFUSED = "the issuer refused the login"


class Discovery:
    """The configuration of an issuer; concurrent callers wait for the same fetch."""

    def __init__(
        self, issuer: str, fetcher: Fetcher, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._fetcher = fetcher
        self._clock = clock
        self._found: dict[str, Any] = {}
        self._fetched_at = -MAX_CACHE_SECONDS
        self._failed_at = -RETRY_SECONDS
        self._fault: Unavailable | None = None
        self._fetching = asyncio.Lock()

    async def find(self) -> dict[str, Any]:
        """Return the configuration.

        Raises:
            Unavailable: it cannot be fetched, and the cached one is too old.
        """
        async with self._fetching:
            now = self._clock()
            if now - self._fetched_at >= FRESH_SECONDS and now - self._failed_at >= RETRY_SECONDS:
                await self._fetch()
            if self._found and self._clock() - self._fetched_at < MAX_CACHE_SECONDS:
                return self._found
            raise self._fault or Unavailable(f"the configuration of {self._issuer} is not known")

    async def _fetch(self) -> None:
        try:
            document = await self._fetcher.configuration(self._issuer)
            self._found = _checked(document, self._issuer)
        except Unavailable as exc:
            self._fault, self._failed_at = exc, self._clock()
        else:
            self._fetched_at = self._clock()


class OidcProvider:
    """The issuer at which people log in; see the port."""

    def __init__(
        self,
        settings: OidcLogin,
        fetcher: Fetcher,
        keys: IssuerKeys,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._fetcher = fetcher
        self._keys = keys
        self._clock = clock
        self._discovery = Discovery(settings.issuer, fetcher)

    @property
    def host(self) -> str:
        """Return the host of the issuer."""
        return urlsplit(self._settings.issuer).hostname or self._settings.issuer

    async def authorization_url(self, flow: LoginFlow, *, back: str, anew: bool = False) -> str:
        """Return the URL to which a browser is sent for a login; see the port."""
        endpoint: str = (await self._discovery.find())["authorization_endpoint"]
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": back,
            "scope": self._settings.scopes,
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": challenge_of(flow.verifier),
            "code_challenge_method": "S256",
        }
        if anew:
            asked |= {"prompt": "login", "max_age": "0"}
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    async def identify(
        self, flow: LoginFlow, answer: Mapping[str, str], *, back: str, anew: bool = False
    ) -> IssuerIdentity:
        """Return the person whom the issuer's answer identifies; see the port."""
        if not hmac.compare_digest(answer.get("state", "").encode(), flow.state.encode()):
            raise Unauthorized("this login was not begun in this browser, or ended before")
        metadata = await self._discovery.find()
        # Before anything else is believed: the answer may come from another issuer.
        must_say = metadata.get("authorization_response_iss_parameter_supported") is True
        if answer.get("iss", "" if must_say else self._settings.issuer) != self._settings.issuer:
            raise Unauthorized("the answer comes from another issuer (iss)")
        if "error" in answer:
            raise Unauthorized(f"{_REFUSED}: {_shown(answer['error'])}")
        code = answer.get("code", "")
        if not 0 < len(code) <= MAX_CODE_CHARACTERS:
            raise Unauthorized("the issuer's answer has no code")
        tokens = await self._tokens(metadata, code, flow, back)
        claims = await self._claims(tokens, flow, metadata)
        if anew and not self._is_recent(logged_in_at(claims)):
            raise Unauthorized("the issuer does not say that you have just logged in (auth_time)")
        return IssuerIdentity(
            self._settings.issuer,
            claims["sub"],
            called(claims),
            values_of(claims, self._settings.role_claim),
        )

    def _is_recent(self, moment: float | None) -> bool:
        return moment is not None and abs(self._clock() - moment) < ANEW_SECONDS + LEEWAY_SECONDS

    async def _tokens(
        self, metadata: dict[str, Any], code: str, flow: LoginFlow, back: str
    ) -> dict[str, Any]:
        """Return what the issuer gives for a code."""
        endpoint: str = metadata["token_endpoint"]
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": flow.verifier,
        }
        headers, more = self._credentials(metadata)
        response = await self._fetcher.exchange(
            endpoint, "POST", _FORM, *headers, body=urlencode(form | more).encode()
        )
        if response.status in (400, 401):
            fault = object_of(response, endpoint).get("error")
            raise Unauthorized(f"{_REFUSED}: {_shown(fault)}")
        if response.status != 200:
            raise Unavailable(f"the issuer responds with HTTP {response.status} to a code")
        return object_of(response, endpoint)

    def _credentials(
        self, metadata: dict[str, Any]
    ) -> tuple[tuple[tuple[str, str], ...], dict[str, str]]:
        """Return the headers and fields by which this client authenticates."""
        name, secret = self._settings.client_id, self._settings.client_secret
        if secret is None:
            return (), {"client_id": name}
        methods = metadata.get("token_endpoint_auth_methods_supported")
        listed = methods if isinstance(methods, list) else ["client_secret_basic"]
        if "client_secret_basic" not in listed and "client_secret_post" in listed:
            return (), {"client_id": name, "client_secret": secret.reveal()}
        pair = f"{quote(name, safe='')}:{quote(secret.reveal(), safe='')}"  # RFC 6749, 2.3.1
        encoded = base64.b64encode(pair.encode()).decode()
        return (("Authorization", f"Basic {encoded}"),), {}

    async def _claims(
        self, tokens: dict[str, Any], flow: LoginFlow, metadata: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the verified claims of an ID token, with those of the user if a role is missing.

        Some issuers put roles and names only where the access token leads.
        """
        token, access = tokens.get("id_token"), tokens.get("access_token")
        if not isinstance(token, str):
            raise Unauthorized("the issuer's answer has no ID token")
        wanted = OidcSettings(self._settings.issuer, self._settings.client_id)
        claims = await verified_claims(
            token,
            self._keys,
            lambda found: login_fault_of(found, wanted, nonce=flow.nonce, now=self._clock()),
        )
        address = metadata.get("userinfo_endpoint")
        is_whole = at(claims, self._settings.role_claim) is not None
        if is_whole or not isinstance(access, str) or not isinstance(address, str):
            return claims
        alg, _ = signed_by(token)
        if not access.isprintable() or not is_of_access_token(claims, access, alg):
            raise Unauthorized("the access token belongs to another login (at_hash)")
        user = await self._fetcher.document(address, ("Authorization", f"Bearer {access}"))
        if user.get("sub") != claims["sub"]:
            raise Unauthorized("the issuer describes another user (sub)")
        return user | claims


def challenge_of(verifier: str) -> str:
    """Return the PKCE challenge of a verifier. Pure."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _checked(document: dict[str, Any], issuer: str) -> dict[str, Any]:
    """Return a configuration that has what a login needs.

    Raises:
        Unavailable: it has no endpoints, or none with PKCE.
    """
    for name in ("authorization_endpoint", "token_endpoint"):
        url = document.get(name)
        try:
            check_address(url if isinstance(url, str) else "")
        except ValueError as exc:
            raise Unavailable(f"the {name} of {issuer} {exc}") from None
    methods = document.get("code_challenge_methods_supported")
    if methods is not None and not (isinstance(methods, list) and "S256" in methods):
        raise Unavailable(f"{issuer} does not support PKCE with S256")
    return document


def _shown(fault: object) -> str:
    """Return the code of an OAuth error, if it has the form of one."""
    text = fault if isinstance(fault, str) else ""
    return text if text.isascii() and text.isprintable() and 0 < len(text) <= 100 else "no reason"
