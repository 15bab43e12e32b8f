"""Verifies the signed tokens of one issuer, first the signature and then the claims.

Follows RFC 7515, 7519, 8725 and OpenID Connect Core 1.0 section 3.1.3.7, read in November 2026.
"""

import base64
import binascii
import re
import time
from collections.abc import Callable
from typing import Any

import orjson
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry

from mailqueue.adapters.oidc.claims import called, fault_of, has_role
from mailqueue.adapters.oidc.keys import KINDS, IssuerKeys, one_name
from mailqueue.core.errors import Forbidden, Unauthorized
from mailqueue.ports.identity import TokenIdentity
from mailqueue.settings.oidc import OidcSettings

MAX_CHARACTERS = 16 * 1024
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
# Header parameters that change how a token is read. Keys inside a token or linked from it are
# ignored.
_REFUSED = frozenset({"crit", "b64", "zip", "enc"})


class _Registry(JWSRegistry):
    """Accepts one algorithm, by both names if it has two."""

    def get_alg(self, name: str) -> Any:
        return super().get_alg(str(one_name(name)))


class SignedTokens:
    """Verifies the tokens of administrators, from one issuer."""

    def __init__(
        self, settings: OidcSettings, keys: IssuerKeys, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._keys = keys
        self._clock = clock

    async def read(self, token: str) -> TokenIdentity:
        """Return the administrator that a token identifies; see the port."""
        claims = await verified_claims(
            token,
            self._keys,
            lambda claims: fault_of(claims, self._settings, now=self._clock()),
        )
        if not has_role(claims, self._settings):
            raise Forbidden(f"role {self._settings.role}")
        return TokenIdentity(claims["sub"], called(claims))


async def verified_claims(
    token: str, keys: IssuerKeys, fault: Callable[[dict[str, Any]], str | None]
) -> dict[str, Any]:
    """Return the claims of a token that a key of the issuer signed, without the fault.

    Raises:
        Unauthorized: it is not such a token.
        Unavailable: the issuer's keys cannot be fetched now.
    """
    alg, kid = signed_by(token)
    # Before any keys are fetched; the claims count only after the signature.
    _check(fault(_json_of(token.split(".")[1])))
    key = await keys.find(kid, alg)
    if key is None:
        raise Unauthorized("this token is not valid: its key is not one of the issuer's")
    try:
        registry = _Registry(algorithms=[str(one_name(alg))], strict_check_header=False)
        claims = jwt.decode(token, key, registry=registry).claims
    except (JoseError, ValueError, RecursionError):
        raise Unauthorized("this token is not valid: its signature is wrong") from None
    _check(fault(claims))
    return claims


def signed_by(token: str) -> tuple[str, str | None]:
    """Return the algorithm and the key id of a token's header.

    Raises:
        Unauthorized: it has no valid one.
    """
    if len(token) > MAX_CHARACTERS or not _COMPACT.fullmatch(token):
        raise Unauthorized("this token is not valid")
    header = _json_of(token.partition(".")[0])
    alg = header.get("alg")
    if not isinstance(alg, str) or alg not in KINDS:
        raise Unauthorized(f"this token is not valid: it must be signed with {', '.join(KINDS)}")
    if not all(isinstance(value, str) for value in header.values()) or _REFUSED & set(header):
        raise Unauthorized("this token is not valid")
    return alg, header.get("kid")


def _json_of(part: str) -> dict[str, Any]:
    try:
        found = orjson.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, orjson.JSONDecodeError):
        found = None
    if not isinstance(found, dict):
        raise Unauthorized("this token is not valid")
    return found


def _check(fault: str | None) -> None:
    if fault is not None:
        raise Unauthorized(f"this token is not valid: {fault}")
