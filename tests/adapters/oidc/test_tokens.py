"""Signed tokens: accepted if the issuer signed them for this audience and time, else refused."""

import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailqueue.adapters.http.model import HttpTimeouts, NetworkPolicy
from mailqueue.adapters.oidc.claims import LEEWAY_SECONDS, fault_of, has_role
from mailqueue.adapters.oidc.documents import Fetcher
from mailqueue.adapters.oidc.keys import IssuerKeys
from mailqueue.adapters.oidc.tokens import SignedTokens
from mailqueue.core.errors import Forbidden, MailqueueError, Unauthorized
from mailqueue.ports.identity import TokenIdentity
from mailqueue.settings.oidc import OidcSettings
from tests.adapters.oidc.issuer import (
    AUDIENCE,
    Issuer,
    Key,
    ec_key,
    ed_key,
    encoded,
    issuing,
    rsa_key,
    written,
)

pytestmark = pytest.mark.anyio
QUICK = HttpTimeouts(connect_s=30.0, read_s=30.0, call_s=30.0)
REACH = NetworkPolicy(allowed_networks=(ip_network("127.0.0.0/8"),))
ANN = TokenIdentity("user-1", "ann")


def reading(issuer: Issuer, **options: Any) -> SignedTokens:
    wanted = OidcSettings(issuer.name, AUDIENCE, **options)
    return SignedTokens(wanted, IssuerKeys(issuer.name, Fetcher(REACH, timeouts=QUICK)))


async def refusal(issuer: Issuer, token: str) -> str:
    with pytest.raises(Unauthorized) as refused:
        await reading(issuer).read(token)
    return str(refused.value)


SIGNING = (rsa_key("r"), ec_key("e"), ed_key("o"), ed_key("n", alg="Ed25519"))


@pytest.mark.parametrize("key", SIGNING, ids=lambda key: key.alg)
async def test_a_token_of_each_algorithm_says_who_bears_it(key: Key) -> None:
    async with issuing(*SIGNING) as issuer:
        own = written(
            {"alg": key.alg, "kid": key.kid, "typ": "at+jwt", "pi.atm": "x"},
            issuer.claims(),
            key.sign,
        )
        assert await reading(issuer).read(issuer.token(key)) == ANN
        assert await reading(issuer).read(own) == ANN


async def test_a_token_without_a_kid_is_read_where_one_key_fits() -> None:
    async with issuing(rsa_key("r"), ec_key("e")) as issuer:
        bare = written({"alg": "ES256"}, issuer.claims(), ec_key("e").sign)
        assert await reading(issuer).read(bare) == ANN
        issuer.keys.append(ec_key("e2").jwk)
        assert "not one of the issuer's" in await refusal(issuer, bare)


@dataclass(frozen=True, slots=True)
class FromNow:
    """A time so many seconds after the test begins."""

    seconds: int


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"iss": "https://other.example.com"}, "(iss) is not the configured one"),
        ({"iss": None}, "(iss) is not the configured one"),
        ({"aud": "another-api"}, "(aud) is not the configured one"),
        ({"aud": ["a", "b"]}, "(aud) is not the configured one"),
        ({"aud": {AUDIENCE: 1}}, "(aud) is not the configured one"),
        ({"aud": None}, "(aud) is not the configured one"),
        ({"sub": None}, "has no subject (sub)"),
        ({"sub": ""}, "has no subject (sub)"),
        ({"sub": 7}, "has no subject (sub)"),
        ({"sub": "x" * 201}, "has no subject (sub)"),
        ({"exp": None}, "has no expiry (exp)"),
        ({"exp": "2999-01-01"}, "has no expiry (exp)"),
        ({"exp": True}, "has no expiry (exp)"),
        ({"exp": -(10**15)}, "expired"),
        ({"exp": FromNow(-120)}, "expired"),
        ({"nbf": FromNow(600)}, "not valid yet"),
        ({"nbf": "now"}, "not valid yet"),
        ({"iat": FromNow(600)}, "(iat) is in the future"),
        ({"iat": []}, "(iat) is in the future"),
    ],
)
async def test_a_token_for_another_or_another_time_is_refused(
    claims: dict[str, Any], why: str
) -> None:
    now = int(time.time())
    said = {
        name: now + value.seconds if isinstance(value, FromNow) else value
        for name, value in claims.items()
    }
    async with issuing(ec_key("e")) as issuer:
        assert why in await refusal(issuer, issuer.token(ec_key("e"), **said))
        assert issuer.asked == [], "what a token says of itself is looked at before keys are"


async def test_a_token_longer_than_any_is_refused_before_it_is_read() -> None:
    async with issuing(ec_key("e")) as issuer:
        assert "not valid" in await refusal(issuer, issuer.token(ec_key("e"), more="x" * 16_000))
        assert issuer.asked == []


async def test_what_is_only_in_the_signed_part_counts() -> None:
    """The claims are read before verification to save a request; those of the verified part
    decide.
    """
    async with issuing(ec_key("e")) as issuer:
        good = issuer.token(ec_key("e"))
        head, _, signature = good.split(".")
        forged = encoded(json.dumps(issuer.claims(sub="root")).encode())

        assert "signature is wrong" in await refusal(issuer, f"{head}.{forged}.{signature}")


async def test_a_token_that_names_its_own_way_to_be_checked_is_refused() -> None:
    key = rsa_key("r")
    async with issuing(key) as issuer:
        secret = json.dumps(key.jwk).encode()

        def mac(data: bytes) -> bytes:
            return hmac.new(secret, data, hashlib.sha256).digest()

        headers: list[tuple[dict[str, Any], Any]] = [
            ({"alg": "none", "kid": "r"}, lambda _: b"x"),
            ({"alg": "None", "kid": "r"}, lambda _: b"x"),
            ({"alg": "HS256", "kid": "r"}, mac),
            ({"alg": "RS384", "kid": "r"}, key.sign),
            ({"alg": "PS256", "kid": "r"}, key.sign),
            ({"alg": ["RS256"], "kid": "r"}, key.sign),
            ({"kid": "r"}, key.sign),
            ({"alg": "RS256", "kid": 5}, key.sign),
            ({"alg": "RS256", "kid": "r", "crit": ["exp"]}, key.sign),
            ({"alg": "RS256", "kid": "r", "b64": "false"}, key.sign),
            ({"alg": "RS256", "kid": "r", "zip": "DEF"}, key.sign),
            ({"alg": "RS256", "kid": "r", "jwk": rsa_key("mine").jwk}, rsa_key("mine").sign),
            ({"alg": "ES256", "kid": "r"}, ec_key("r").sign),
            ({"alg": "RS256", "kid": "r", "jku": f"{issuer.name}/mine"}, rsa_key("mine").sign),
        ]
        for header, sign in headers:
            await refusal(issuer, written(header, issuer.claims(), sign))
        assert not [path for path in issuer.asked if "mine" in path]


HEAD = b'{"alg":"ES256","kid":"e"}'


def parts(header: bytes, claims: bytes) -> str:
    return f"{encoded(header)}.{encoded(claims)}.x"


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b",
        "a.b.c.d.e",
        "é.b.c",
        "a.b.c\n",
        parts(b"[]", b"{}"),
        parts(b"{", b"{}"),
        parts(b"[" * 5000, b"{}"),
        parts(b'{"x":' + b"[" * 1000 + b"]" * 1000 + b"}", b"{}"),
        parts(HEAD, b"[" * 1000 + b"]" * 1000),
        parts(HEAD, b'"text"'),
        parts(HEAD, b"\xff"),
        "x" * 20_000 + ".y.z",
    ],
)
async def test_a_text_that_is_no_token_is_refused_without_a_request(token: str) -> None:
    async with issuing(ec_key("e")) as issuer:
        assert "not valid" in await refusal(issuer, token)
        assert issuer.asked == []


@given(text=st.text(alphabet="abcXYZ019-_.=", max_size=80), place=st.integers(0, 400))
@settings(max_examples=60)
async def test_no_alteration_of_a_token_is_taken_for_it(text: str, place: int) -> None:
    async with issuing(ec_key("e")) as issuer:
        good = issuer.token(ec_key("e"))
        place %= len(good)
        altered = good[:place] + text + good[place + len(text) :]
        try:
            found = await reading(issuer).read(altered)
        except MailqueueError:
            return
        # The last character of a part has bits that stand for nothing.
        assert (found, altered.rpartition(".")[0]) == (ANN, good.rpartition(".")[0])


async def test_without_the_role_a_good_token_is_forbidden() -> None:
    async with issuing(ec_key("e")) as issuer:
        token = issuer.token(ec_key("e"), roles=["reader"])
        with pytest.raises(Forbidden, match="role mailqueue-admin"):
            await reading(issuer).read(token)
        assert await reading(issuer, role="reader").read(token) == ANN


@pytest.mark.parametrize(
    ("claim", "claims", "has"),
    [
        ("roles", {"roles": ["a", "admin"]}, True),
        ("roles", {"roles": "a admin"}, True),
        ("roles", {"roles": {"admin": {"1": "example.com"}}}, True),
        ("realm_access.roles", {"realm_access": {"roles": ["admin"]}}, True),
        ("https://example.com/roles", {"https://example.com/roles": ["admin"]}, True),
        ("urn:x:roles", {"urn:x:roles": {"admin": {}}}, True),
        ("roles", {"roles": ["administrator", ["admin"], {"admin": 1}, None]}, False),
        ("roles", {"roles": "administrator"}, False),
        ("roles", {"roles": True}, False),
        ("roles", {"role": "admin"}, False),
        ("realm_access.roles", {"realm_access": ["roles"]}, False),
        ("realm_access.roles", {"realm_access": {"roles": None}}, False),
        ("a.b.c", {"a": "b.c admin"}, False),
    ],
)
def test_a_role_is_found_where_issuers_put_it(claim: str, claims: Any, has: bool) -> None:
    wanted = OidcSettings("https://x.example.com", AUDIENCE, claim, "admin")

    assert has_role(claims, wanted) is has


@pytest.mark.parametrize(
    ("name", "offset", "is_good"),
    [
        ("exp", -LEEWAY_SECONDS + 1, True),
        ("exp", -LEEWAY_SECONDS, False),
        ("nbf", LEEWAY_SECONDS, True),
        ("nbf", LEEWAY_SECONDS + 1, False),
        ("iat", LEEWAY_SECONDS, True),
        ("iat", LEEWAY_SECONDS + 1, False),
    ],
)
def test_clocks_may_differ_by_a_minute_and_no_more(name: str, offset: int, is_good: bool) -> None:
    wanted = OidcSettings("https://x.example.com", AUDIENCE)
    claims = {"iss": wanted.issuer, "aud": [AUDIENCE, "b"], "sub": "u", "exp": 2_000, name: 1_000}
    claims[name] = 1_000 + offset

    assert (fault_of(claims, wanted, now=1_000.0) is None) is is_good


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, -float("inf")])
def test_a_time_that_is_no_number_is_no_time(number: float) -> None:
    wanted = OidcSettings("https://x.example.com", AUDIENCE)
    good = {"iss": wanted.issuer, "aud": AUDIENCE, "sub": "u", "exp": 2_000}

    for name in ("exp", "nbf", "iat"):
        assert fault_of(good | {name: number}, wanted, now=1_000.0) is not None
