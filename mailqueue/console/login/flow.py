"""The secrets of one login at an issuer, all derived from one that the browser keeps. Pure."""

import base64
import binascii
import hashlib
import secrets
from dataclasses import dataclass

from mailqueue.core.secret import Secret
from mailqueue.ports.identity import LoginFlow

_MIN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class KeptFlow:
    """A login in progress: its secret, and the page that follows it.

    `confirms` is the id of the session that it confirms; empty if it begins one.
    """

    secret: str
    after: str
    confirms: str = ""

    @property
    def flow(self) -> LoginFlow:
        """Return what the issuer is given; none of it tells another part, or the secret."""
        state, nonce, verifier = (self._derived(name) for name in ("state", "nonce", "verifier"))
        return LoginFlow(state, nonce, verifier)

    @property
    def once(self) -> bytes:
        """Return the hash that is stored when the login succeeds, so that it does so once."""
        return hashlib.sha256(b"login " + self.secret.encode()).digest()

    def as_cookie(self) -> Secret:
        """Return the value of the cookie."""
        after = base64.urlsafe_b64encode(self.after.encode()).decode().rstrip("=")
        return Secret(f"{self.secret}.{after}.{self.confirms}")

    def _derived(self, name: str) -> str:
        digest = hashlib.sha256(f"{name} {self.secret}".encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def new_flow(after: str, *, confirms: str = "") -> KeptFlow:
    """Return a new login, which leads to a page."""
    return KeptFlow(secrets.token_urlsafe(32), after, confirms)


def read_flow(cookie: Secret | None) -> KeptFlow | None:
    """Return the login in a cookie; None if there is none."""
    secret, _, rest = (cookie.reveal() if cookie else "").partition(".")
    encoded, _, confirms = rest.partition(".")
    try:
        after = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    return KeptFlow(secret, after, confirms) if len(secret) >= _MIN_CHARACTERS else None
