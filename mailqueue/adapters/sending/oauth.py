"""Obtains OAuth 2.0 access tokens: for a service account or with a refresh token, and caches them.

Follows developers.google.com/identity/protocols/oauth2 and RFC 6749 section 6, RFC 7523, read in
November 2026.
"""

import asyncio
import base64
import ssl
import time
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import urlencode

import orjson
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from mailqueue.adapters.http.connection import connect
from mailqueue.adapters.http.model import (
    DEFAULT_TIMEOUTS,
    HttpRequest,
    HttpResponse,
    HttpTimeouts,
    NetworkPolicy,
    read_origin,
)
from mailqueue.adapters.sending.outcomes import cleaned, clock_of, plain, retry_after_of
from mailqueue.adapters.sending.redaction import redacted
from mailqueue.core.limits import limit_in
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.smtp.client.trust import system_trust

GOOGLE_TOKENS = "https://oauth2.googleapis.com/token"
SEND_MAIL = "https://www.googleapis.com/auth/gmail.send"
ALL_MAIL = "https://mail.google.com/"
ASSERTION_SECONDS = 3600
RENEWAL_MARGIN_SECONDS = 180
"""Seconds before its end from which a token is not used: a batch may take that long."""
CLOCK_SECONDS = 60
"""Seconds of difference from the token server's clock above which the local clock is corrected.

The token is then requested once more: an assertion signed too early or too late is refused.
"""
# RFC 6749 section 5.2 and Google's own codes: the grant or the client is not accepted.
_REFUSING = frozenset(
    {
        *("invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope"),
        *("access_denied", "unsupported_grant_type", "admin_policy_enforced", "disabled_client"),
        *("deleted_client", "org_internal", "interaction_required", "consent_required"),
    }
)


class Grant(Protocol):
    """A credential that obtains access tokens (RFC 6749, authorization grant)."""

    @property
    def token_url(self) -> str:
        """Return the URL of the token endpoint."""
        ...

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Return the texts to redact in recorded responses."""
        ...

    def fields(self, now: float) -> dict[str, str]:
        """Return the form fields of a token request; `now` is in Unix seconds."""
        ...


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """A refresh token (RFC 6749 section 6)."""

    client_id: str
    client_secret: Secret
    refresh_token: Secret
    token_url: str = GOOGLE_TOKENS
    scope: str = ""

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Return the secrets of the form that a server may echo."""
        return (self.refresh_token, self.client_secret)

    def fields(self, now: float) -> dict[str, str]:  # noqa: ARG002
        scope = {"scope": self.scope} if self.scope else {}
        return {
            "grant_type": "refresh_token",
            "refresh_token": self.refresh_token.reveal(),
            "client_id": self.client_id,
            "client_secret": self.client_secret.reveal(),
            **scope,
        }


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A service account's key that may act for a mailbox of its domain."""

    client_email: str
    private_key: Secret  # PKCS#8 in PEM
    key_id: str
    mailbox: str
    scope: str
    token_url: str = GOOGLE_TOKENS

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Return nothing: the key itself is not sent."""
        return ()

    def fields(self, now: float) -> dict[str, str]:
        head = {"alg": "RS256", "typ": "JWT", "kid": self.key_id}
        claims = {
            "iss": self.client_email,
            "sub": self.mailbox,
            "aud": self.token_url,
            "scope": self.scope,
            "iat": int(now),
            "exp": int(now) + ASSERTION_SECONDS,
        }
        signed = f"{_base64(orjson.dumps(head))}.{_base64(orjson.dumps(claims))}"
        key = serialization.load_pem_private_key(self.private_key.reveal().encode(), None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise ValueError("the key of a service account must be an RSA key")
        signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": f"{signed}.{_base64(signature)}",
        }


def grant_of(
    document: Secret, *, mailbox: str, scope: str, token_url: str = ""
) -> RefreshToken | ServiceAccount:
    """Parse the key file of a service account, or a document with a refresh token. Pure.

    The token_uri of a key file is accepted only if it is the well-known or the configured one:
    otherwise the author of the file could redirect signed assertions to another server.

    Raises:
        ValueError: it is neither; the message names what is missing.
    """
    try:
        given = orjson.loads(document.reveal())
    except orjson.JSONDecodeError:
        given = None
    if not isinstance(given, dict):
        raise ValueError("must be a JSON document: a service account's key file or a refresh token")
    url = token_url or GOOGLE_TOKENS
    if given.get("type") == "service_account":
        if given.get("token_uri", url) not in (url, GOOGLE_TOKENS):
            raise ValueError("token_uri of the key file differs from the account's token_url")
        text = _texts(given, "client_email", "private_key", "private_key_id")
        key = Secret(text["private_key"])
        return ServiceAccount(
            text["client_email"], key, text["private_key_id"], mailbox, scope, url
        )
    text = _texts(given, "client_id", "client_secret", "refresh_token")
    secrets = Secret(text["client_secret"]), Secret(text["refresh_token"])
    return RefreshToken(text["client_id"], *secrets, url, str(given.get("scope") or ""))


class Tokens:
    """The access token of one account; concurrent callers wait for the same request."""

    def __init__(
        self,
        grant: Grant,
        policy: NetworkPolicy,
        *,
        timeouts: HttpTimeouts = DEFAULT_TIMEOUTS,
        tls_context: ssl.SSLContext | None = None,
        margin_s: float = RENEWAL_MARGIN_SECONDS,
    ) -> None:
        """Prepare; a token is renewed `margin_s` seconds before its end."""
        self._margin_s = margin_s
        self._grant = grant
        self._policy = policy
        self._timeouts = timeouts
        self._tls_context = tls_context
        self._token: Secret | None = None
        self._ends_at = 0.0
        self._fetching = asyncio.Lock()
        self._clock_is_behind = 0.0  # seconds
        self._assertion = Secret("")
        """The last one that was sent: valid for an hour."""

    async def get(self) -> Secret | Rejected:
        """Return a token valid for some minutes, or a Rejected that concerns the account."""
        async with self._fetching:
            if self._token is None or time.monotonic() >= self._ends_at:
                return await self._fetched()
            return self._token

    def drop(self) -> None:
        """Discard the token: a server refused it."""
        self._token = None

    async def _fetched(self) -> Secret | Rejected:
        answer = await self._asked()
        if isinstance(answer, HttpResponse) and self._is_clock_set(answer):
            answer = await self._asked()
        if isinstance(answer, Rejected):
            return answer
        parsed = answer.document()
        parsed = parsed if isinstance(parsed, dict) else {}
        token = parsed.get("access_token")
        if answer.status != 200 or not isinstance(token, str) or not token.isprintable():
            return self._without_secrets(_refused(answer, parsed))
        self._token = Secret(token)
        self._ends_at = time.monotonic() + max(0.0, _seconds(parsed) - self._margin_s)
        return self._token

    def _without_secrets(self, why: Rejected) -> Rejected:
        return replace(why, detail=redacted(why.detail, (*self._grant.secrets, self._assertion)))

    def _is_clock_set(self, answer: HttpResponse) -> bool:
        """Return whether a refusal showed that the local clock differs from the server's.

        The difference is applied to later assertions.
        """
        theirs = clock_of(answer)
        if not 400 <= answer.status < 500 or theirs is None:
            return False
        behind = theirs.timestamp() - time.time()
        if abs(behind - self._clock_is_behind) <= CLOCK_SECONDS:
            return False
        self._clock_is_behind = behind
        return True

    async def _asked(self) -> HttpResponse | Rejected:
        site = read_origin(self._grant.token_url)
        try:
            fields = await asyncio.to_thread(
                self._grant.fields, time.time() + self._clock_is_behind
            )
        except ValueError:
            why = "the private key of the service account cannot be read"
            return Rejected(Fault.ACCOUNT, "", why, Stage.CONNECT)
        self._assertion = Secret(fields.get("assertion", ""))
        if site.scheme == "https" and self._tls_context is None:
            self._tls_context = await system_trust()
        context = self._tls_context if site.scheme == "https" else None
        wire = await connect(site, self._policy, timeouts=self._timeouts, context=context)
        if isinstance(wire, Rejected):
            return wire
        headers = (("Content-Type", "application/x-www-form-urlencoded"),)
        call = HttpRequest("POST", "", headers, urlencode(fields).encode())
        try:
            answer = await wire.ask(call, may_finish=lambda: True)
        finally:
            wire.close()
        if isinstance(answer, Rejected):  # no email was sent, so its outcome is known
            return Rejected(Fault.TRANSIENT, "", f"token: {answer.detail}", Stage.CONNECT)
        return answer


def _refused(answer: HttpResponse, parsed: dict[str, Any]) -> Rejected:
    error = str(parsed.get("error") or "")
    words = str(parsed.get("error_description") or "")
    detail = cleaned(f"token: {error} {words}") if error else f"token: HTTP {answer.status}"
    wait = retry_after_of(answer)
    limit = limit_in(f"{error} {words}" if error else plain(answer))
    if limit is not None:
        wait, is_quota = wait or limit.wait, limit.is_quota
        return Rejected(
            Fault.RATE_LIMITED,
            str(answer.status),
            detail,
            Stage.CONNECT,
            retry_after=wait,
            is_quota=is_quota,
        )
    is_refused = error in _REFUSING or (answer.status == 401 and not error)
    kind = Fault.ACCOUNT if is_refused else Fault.TRANSIENT
    return Rejected(kind, str(answer.status), detail, Stage.CONNECT, retry_after=wait)


def _seconds(parsed: dict[str, Any]) -> float:
    try:
        return float(parsed.get("expires_in") or 0)  # may be a string
    except (TypeError, ValueError):
        return 0.0


def _texts(values: dict[str, Any], *names: str) -> dict[str, str]:
    missing = [name for name in names if not isinstance(values.get(name), str) or not values[name]]
    if missing:
        raise ValueError(f"lacks {', '.join(missing)}")
    return {name: values[name] for name in names}


def _base64(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()
