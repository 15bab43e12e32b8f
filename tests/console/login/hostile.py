"""An issuer that answers logins as a test says, and a console whose users log in there."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from mailqueue.adapters.oidc.login import challenge_of
from mailqueue.settings.environment import DatabaseSettings
from tests.adapters.oidc.issuer import WELL_KNOWN, Issuer, ec_key, serving
from tests.adapters.sending.fake import FakeReply, says
from tests.console.visiting import ORIGIN, Visiting, Visitor, visiting

CLIENT = "console"
START = "/console/login/issuer"
BACK = f"{START}/back"
GROUPS = "admins=superadmin; shop-leads=project_admin:shop; helpers=support:shop,blog; all=viewer:*"
KEY = ec_key("login")


@dataclass(slots=True)
class LoginIssuer(Issuer):
    """An issuer that remembers codes; `change` alters ID tokens before they are signed."""

    challenges: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Challenge and nonce by code."""
    said: dict[str, Any] = field(default_factory=dict)
    """Claims of the users' tokens."""
    user: dict[str, Any] | None = None
    """What the user endpoint says; None: there is none."""
    more: dict[str, Any] = field(default_factory=dict)
    """Further members of the configuration."""
    sign: Callable[[dict[str, Any]], str] | None = None
    """Writes an ID token; None signs it as it should be."""

    def answer(self, path: str) -> FakeReply:
        base = self.name
        if path in self.replies:
            return self.replies[path]
        if path == f"/realms/staff{WELL_KNOWN}":
            endpoints = {
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                **({"userinfo_endpoint": f"{base}/user"} if self.user is not None else {}),
            }
            known = {"issuer": base, "jwks_uri": f"{base}/keys?of=staff"}
            return says(200, known | endpoints | self.more)
        if path == "/realms/staff/token":
            return self._tokens()
        if path == "/realms/staff/user" and self.user is not None:
            return says(200, self.user)
        return Issuer.answer(self, path)

    def issue(self, asked: dict[str, str]) -> str:
        """Return a code for the query of an authorization request."""
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.challenges)}"
        self.challenges[code] = (asked["code_challenge"], asked["nonce"])
        return code

    def _tokens(self) -> FakeReply:
        form = {name: values[0] for name, values in parse_qs(self.bodies[-1]).items()}
        challenge, nonce = self.challenges.get(form.get("code", ""), ("", ""))
        if challenge_of(form.get("code_verifier", "")) != challenge:
            return says(400, {"error": "invalid_grant"})
        claims = self.claims(aud=CLIENT, nonce=nonce, roles=None) | self.said
        claims = {name: value for name, value in claims.items() if value is not None}
        token = self.sign(claims) if self.sign else self.token(KEY, **_only(self, claims))
        return says(200, {"access_token": "access", "token_type": "Bearer", "id_token": token})


def _only(issuer: Issuer, claims: dict[str, Any]) -> dict[str, Any]:
    """Return the changes that lead from usual claims to these."""
    return {name: claims.get(name) for name in issuer.claims() | claims}


@dataclass(frozen=True, slots=True)
class AtIssuer:
    """A console whose users log in at an issuer."""

    console: Visiting
    issuer: LoginIssuer

    async def begin(
        self, visitor: Visitor, after: str = "", *, start: str = START
    ) -> dict[str, str]:
        """Go to the issuer; return the query with which the browser arrives there."""
        query = f"?{urlencode({'next': after})}" if after else ""
        response = await visitor.get(f"{start}{query}")
        assert response.status_code == 303, response.text
        url = urlsplit(response.headers["location"])
        assert response.headers["location"].startswith(f"{self.issuer.name}/authorize?")
        return {name: values[0] for name, values in parse_qs(url.query).items()}

    async def answered(self, visitor: Visitor, **answer: str) -> httpx2.Response:
        """Return from the issuer with an answer."""
        return await visitor.get(f"{BACK}?{urlencode(answer)}")

    async def log_in(
        self, visitor: Visitor, after: str = "", *, start: str = START, **claims: Any
    ) -> httpx2.Response:
        """Log in as the person with these claims."""
        self.issuer.said = claims
        asked = await self.begin(visitor, after, start=start)
        code = self.issuer.issue(asked)
        return await self.answered(visitor, state=asked["state"], code=code)


@asynccontextmanager
async def at_issuer(database: DatabaseSettings, **options: Any) -> AsyncIterator[AtIssuer]:
    async with serving(LoginIssuer(keys=[KEY.jwk])) as issuer:
        given = {
            "oidc_issuer": issuer.name,
            "oidc_client_id": CLIENT,
            "oidc_groups": GROUPS,
            "oidc_role_claim": "groups",
            "oidc_allowed_hosts": "127.0.0.0/8",
            "console_url": ORIGIN,
        }
        async with visiting(database, **given | options) as console:
            yield AtIssuer(console, issuer)


def text_of(response: httpx2.Response) -> str:
    """Return the error of a login page."""
    return response.text.partition('role="alert">')[2].partition("</p>")[0]
