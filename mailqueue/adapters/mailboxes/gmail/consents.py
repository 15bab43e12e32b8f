"""The consent of the owner of an inbox at Gmail: OAuth 2.0 with PKCE, for a web application.

Follows developers.google.com/identity/protocols/oauth2/web-server, RFC 6749, 7009 and 7636, read in
November 2026.
"""

import base64
import hashlib
import hmac
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from mailqueue.adapters.http.connection import connect
from mailqueue.adapters.http.model import (
    HttpRequest,
    HttpResponse,
    HttpTimeouts,
    NetworkPolicy,
    ResponseLimits,
    read_origin,
)
from mailqueue.adapters.sending.outcomes import cleaned
from mailqueue.core.errors import Unauthorized, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Rejected
from mailqueue.ports.mailbox import ConsentedInbox
from mailqueue.smtp.client.trust import system_trust

READ_MAIL = "https://www.googleapis.com/auth/gmail.readonly"
TIMEOUTS = HttpTimeouts(connect_s=10.0, read_s=15.0, call_s=20.0)
MAX_BYTES = 256 * 1024
MAX_TOKEN_CHARACTERS = 2000
_FORM = ("Content-Type", "application/x-www-form-urlencoded")


@dataclass(frozen=True, slots=True)
class GoogleUrls:
    """Where Google asks for consent, gives and revokes tokens, and has the API of Gmail."""

    consent: str
    token: str
    revoke: str
    api: str


GOOGLE = GoogleUrls(
    "https://accounts.google.com/o/oauth2/v2/auth",
    "https://oauth2.googleapis.com/token",
    "https://oauth2.googleapis.com/revoke",
    "https://gmail.googleapis.com/gmail/v1/users/me",
)


def google_at(url: str) -> GoogleUrls:
    """Return the same paths at one origin. Pure."""
    base = url.rstrip("/")
    return GoogleUrls(
        f"{base}/o/oauth2/v2/auth",
        f"{base}/token",
        f"{base}/revoke",
        f"{base}/gmail/v1/users/me",
    )


@dataclass(frozen=True, slots=True)
class GoogleClient:
    """An OAuth client of type "web application"."""

    client_id: str
    client_secret: Secret
    urls: GoogleUrls = GOOGLE


class GmailConsents:
    """See `ports.mailbox.InboxConsents`."""

    def __init__(
        self,
        client: GoogleClient,
        policy: NetworkPolicy,
        *,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        """Prepare; `tls_context` None trusts what the system trusts."""
        self._client = client
        self._policy = policy
        self._tls_context = tls_context

    def url(self, state: str, *, back: str, address: str) -> str:
        """Return the page where the owner of an address consents."""
        asked = {
            "response_type": "code",
            "client_id": self._client.client_id,
            "redirect_uri": back,
            "scope": READ_MAIL,
            "state": state,
            "login_hint": address,
            # A refresh token is given for offline access alone, and again only when asked anew.
            "access_type": "offline",
            "prompt": "consent",
            "code_challenge": _base64(hashlib.sha256(self._verifier(state).encode()).digest()),
            "code_challenge_method": "S256",
        }
        return f"{self._client.urls.consent}?{urlencode(asked)}"

    async def redeem(self, code: str, state: str, *, back: str) -> ConsentedInbox:
        """Return the inbox that a code gives access to."""
        answer = await self._asked(
            "POST",
            self._client.urls.token,
            _FORM,
            form={
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": back,
                "client_id": self._client.client_id,
                "client_secret": self._client.client_secret.reveal(),
                "code_verifier": self._verifier(state),
            },
        )
        tokens = _object_of(answer)
        if answer.status in (400, 401, 403):
            raise Unauthorized(f"Google refused the code: {_word(tokens.get('error'))}")
        access, refresh = _token(tokens, "access_token"), _token(tokens, "refresh_token")
        if answer.status != 200 or access is None:
            raise Unavailable(f"Google answered HTTP {answer.status} to a code")
        if refresh is None:
            raise Unauthorized("Google gave no refresh token")
        if READ_MAIL not in str(tokens.get("scope") or READ_MAIL).split():
            raise Unauthorized("the consent does not include reading the inbox")
        bearer = ("Authorization", f"Bearer {access.reveal()}")
        profile = await self._asked("GET", f"{self._client.urls.api}/profile", bearer)
        address = _object_of(profile).get("emailAddress")
        if profile.status in (400, 403):
            raise Unauthorized("this account of Google has no Gmail, or may not be read")
        if profile.status != 200 or not isinstance(address, str):
            raise Unavailable(f"Gmail answered HTTP {profile.status} to the profile")
        return ConsentedInbox(address, refresh)

    async def revoke(self, token: Secret) -> str | None:
        """End a consent; one that has ended already is none to end."""
        try:
            form = {"token": token.reveal()}
            answer = await self._asked("POST", self._client.urls.revoke, _FORM, form=form)
        except Unavailable as exc:
            return exc.public_message
        if answer.status == 200 or _object_of(answer).get("error") == "invalid_token":
            return None
        return f"Google answered HTTP {answer.status}"

    def _verifier(self, state: str) -> str:
        """Return the PKCE verifier of a state; it cannot be made without the client's secret."""
        key = self._client.client_secret.reveal().encode()
        return _base64(hmac.digest(key, b"mailqueue pkce " + state.encode(), "sha256"))

    async def _asked(
        self,
        method: str,
        url: str,
        *headers: tuple[str, str],
        form: dict[str, str] | None = None,
    ) -> HttpResponse:
        parts = urlsplit(url)
        site = read_origin(f"{parts.scheme}://{parts.netloc}")
        if site.scheme == "https" and self._tls_context is None:
            self._tls_context = await system_trust()
        wire = await connect(
            site,
            self._policy,
            timeouts=TIMEOUTS,
            context=self._tls_context if site.scheme == "https" else None,
            reading=ResponseLimits(MAX_BYTES),
        )
        if isinstance(wire, Rejected):
            raise Unavailable(f"{site.host}: {wire.detail}")
        call = HttpRequest(method, parts.path, headers, urlencode(form or {}).encode())
        try:
            answer = await wire.ask(call, may_finish=lambda: True)
        finally:
            wire.close()
        if isinstance(answer, Rejected):
            raise Unavailable(f"{site.host}: {answer.detail}")
        return answer


def _object_of(answer: HttpResponse) -> dict[str, Any]:
    found = answer.document()
    return found if isinstance(found, dict) else {}


def _token(tokens: dict[str, Any], name: str) -> Secret | None:
    found = tokens.get(name)
    if not isinstance(found, str) or not 0 < len(found) <= MAX_TOKEN_CHARACTERS:
        return None
    return Secret(found) if found.isascii() and found.isprintable() else None


def _word(error: object) -> str:
    return cleaned(error)[:100] if isinstance(error, str) and error.isascii() else "no reason"


def _base64(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()
