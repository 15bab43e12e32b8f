"""The signing keys of an issuer: selection by token, caching and refetching."""

import asyncio
import base64
import time
from collections.abc import Callable
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from mailqueue.adapters.oidc.documents import Fetcher
from mailqueue.core.errors import Unavailable

VerificationKey = RSAKey | ECKey | OKPKey

FRESH_SECONDS = 600.0
"""Seconds after which keys are fetched again, so that withdrawn keys stop verifying tokens."""
MAX_CACHE_SECONDS = 3600.0
"""Seconds for which cached keys are used while the issuer cannot be reached."""
REFETCH_SECONDS = 60.0
"""Minimum seconds between two fetches caused by unknown keys."""
RETRY_SECONDS = 10.0
"""Minimum seconds between two fetches after a failed one."""
MAX_KEYS = 50
MIN_RSA_BITS = 2048
# RFC 7518 section 3.1, RFC 8037 section 3.1; no shared secrets, and not "none".
KINDS: dict[str, tuple[str, str | None]] = {
    "RS256": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
    "Ed25519": ("OKP", "Ed25519"),  # its name since RFC 9864
}


class IssuerKeys:
    """The keys of one issuer; concurrent callers wait for the same fetch."""

    def __init__(
        self, issuer: str, fetcher: Fetcher, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._fetcher = fetcher
        self._clock = clock
        self._keys: list[dict[str, Any]] = []
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fault: Unavailable | None = None
        self._fetching = asyncio.Lock()

    async def find(self, kid: str | None, alg: str) -> VerificationKey | None:
        """Return the key with this id and algorithm; without an id, the only one that fits.

        Raises:
            Unavailable: the keys cannot be fetched, and the cached ones are too old.
        """
        if self._is_fresh() and (found := chosen(self._keys, kid, alg)) is not None:
            return found
        if self._may_fetch():
            async with self._fetching:
                if self._may_fetch():  # else another caller fetched them while this one waited
                    await self._fetch()
        if not self._holds():
            raise self._fault or Unavailable(f"the keys of {self._issuer} are not known yet")
        return chosen(self._keys, kid, alg)

    def _is_fresh(self) -> bool:
        return self._age(self._fetched_at) < FRESH_SECONDS

    def _holds(self) -> bool:
        return self._age(self._fetched_at) < MAX_CACHE_SECONDS

    def _may_fetch(self) -> bool:
        pause = REFETCH_SECONDS if self._fault is None else RETRY_SECONDS
        return self._age(self._tried_at) >= pause

    def _age(self, since: float | None) -> float:
        return float("inf") if since is None else self._clock() - since

    async def _fetch(self) -> None:
        try:
            address = await self._fetcher.keys_address(self._issuer)
            document = await self._fetcher.document(address)
            found = document.get("keys")
            if not isinstance(found, list) or len(found) > MAX_KEYS:
                raise Unavailable(f"{address} has no list of at most {MAX_KEYS} keys")
        except Unavailable as exc:
            self._fault = exc
        else:
            self._fault = None
            self._keys = [each for each in found if isinstance(each, dict)]
            self._fetched_at = self._clock()
        self._tried_at = self._clock()


def chosen(keys: list[dict[str, Any]], kid: str | None, alg: str) -> VerificationKey | None:
    """Return the key that verifies a token of that kid and alg; None unless exactly one does. Pure.

    A token without a kid is verified if exactly one key fits.
    """
    fit = [each for each in keys if _fits(each, kid, alg)]
    return _imported(fit[0]) if len(fit) == 1 else None


def _fits(key: dict[str, Any], kid: str | None, alg: str) -> bool:
    kind, curve = KINDS[alg]
    operations = key.get("key_ops")
    return (
        (kid is None or key.get("kid") == kid)
        and key.get("kty") == kind
        and (curve is None or key.get("crv") == curve)
        and key.get("use", "sig") == "sig"
        and one_name(key.get("alg", alg)) == one_name(alg)
        and (operations is None or (isinstance(operations, list) and "verify" in operations))
    )


def one_name(alg: object) -> object:
    """Return the newer of the two names of the EdDSA algorithm; other names unchanged. Pure."""
    return "Ed25519" if alg == "EdDSA" else alg


def _imported(key: dict[str, Any]) -> VerificationKey | None:
    """Return the parsed public key, or None; only public members are read."""
    members = {"RSA": ("n", "e"), "EC": ("crv", "x", "y"), "OKP": ("crv", "x")}[key["kty"]]
    public = {name: key.get(name) for name in ("kty", *members)}
    if not all(isinstance(value, str) and len(value) <= 4096 for value in public.values()):
        return None
    given = {name: str(value) for name, value in public.items()}
    try:
        match key["kty"]:
            case "RSA":
                return RSAKey.import_key(given) if _is_strong(given["n"]) else None  # type: ignore[arg-type]
            case "EC":
                return _checked_point(ECKey.import_key(given))  # type: ignore[arg-type]
            case _:
                return _checked_point(OKPKey.import_key(given))  # type: ignore[arg-type]
    except (JoseError, ValueError):
        return None


def _is_strong(modulus: str) -> bool:
    octets = base64.urlsafe_b64decode(modulus + "=" * (-len(modulus) % 4))
    return int.from_bytes(octets, "big").bit_length() >= MIN_RSA_BITS


def _checked_point(key: ECKey | OKPKey) -> ECKey | OKPKey:
    """Return the key after a check that its point is on the curve."""
    key.public_key  # noqa: B018
    return key
