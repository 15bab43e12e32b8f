"""Keys of an issuer: fetched when needed, cached, and replaced when the issuer changes them."""

import asyncio
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

import pytest

from mailqueue.adapters.http.model import HttpTimeouts, NetworkPolicy
from mailqueue.adapters.oidc import keys as keeping
from mailqueue.adapters.oidc.documents import MAX_BYTES, Fetcher
from mailqueue.adapters.oidc.keys import IssuerKeys, chosen
from mailqueue.adapters.oidc.tokens import SignedTokens
from mailqueue.core.errors import Unauthorized, Unavailable
from mailqueue.settings.oidc import OidcSettings
from tests.adapters.oidc.issuer import (
    AUDIENCE,
    WELL_KNOWN,
    Issuer,
    ec_key,
    ed_key,
    issuing,
    rsa_key,
)
from tests.adapters.sending.fake import SILENT, FakeReply, says

pytestmark = pytest.mark.anyio
IMPATIENT = HttpTimeouts(connect_s=30.0, read_s=0.2, call_s=0.4)
PATIENT = HttpTimeouts(connect_s=30.0, read_s=30.0, call_s=30.0)
LOOPBACK = (ip_network("127.0.0.1/32"),)
CONFIGURATION = f"/realms/staff{WELL_KNOWN}"
KEYS = "/realms/staff/keys?of=staff"


@dataclass(slots=True)
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def kept(issuer: Issuer, clock: Clock, *, timeouts: HttpTimeouts = PATIENT) -> IssuerKeys:
    fetcher = Fetcher(NetworkPolicy(allowed_networks=LOOPBACK), timeouts=timeouts)
    return IssuerKeys(issuer.name, fetcher, clock=clock)


async def fault(issuer: Issuer, *, timeouts: HttpTimeouts = PATIENT) -> str:
    with pytest.raises(Unavailable) as away:
        await kept(issuer, Clock(), timeouts=timeouts).find("e", "ES256")
    return str(away.value)


async def test_keys_are_fetched_once_for_many() -> None:
    async with issuing(ec_key("e")) as issuer:
        keys = kept(issuer, Clock())
        found = await asyncio.gather(*(keys.find("e", "ES256") for _ in range(20)))

    assert all(found)
    assert issuer.asked == [CONFIGURATION, KEYS]


async def test_a_new_key_is_found_and_an_old_one_forgotten() -> None:
    async with issuing(ec_key("old")) as issuer:
        clock = Clock()
        keys = kept(issuer, clock)
        assert await keys.find("old", "ES256")

        issuer.keys = [ec_key("new").jwk]
        clock.now += keeping.REFETCH_SECONDS
        assert await keys.find("new", "ES256")
        assert await keys.find("old", "ES256") is None


async def test_a_key_that_is_taken_back_is_out_when_keys_are_no_longer_fresh() -> None:
    async with issuing(ec_key("stolen"), ec_key("other")) as issuer:
        clock = Clock()
        keys = kept(issuer, clock)
        assert await keys.find("stolen", "ES256")
        issuer.keys = [ec_key("other").jwk]

        clock.now += keeping.FRESH_SECONDS

        assert await keys.find("stolen", "ES256") is None


async def test_no_flood_of_unknown_keys_is_passed_on_to_the_issuer() -> None:
    async with issuing(ec_key("e")) as issuer:
        clock = Clock()
        keys = kept(issuer, clock)
        for n in range(200):
            assert await keys.find(f"invented-{n}", "ES256") is None
            clock.now += keeping.REFETCH_SECONDS / 100

    assert issuer.asked.count(KEYS) == 2


async def test_an_issuer_that_is_away_is_bridged_for_an_hour_and_asked_seldom() -> None:
    async with issuing(ec_key("e")) as issuer:
        clock = Clock()
        keys = kept(issuer, clock)
        assert await keys.find("e", "ES256")
        issuer.replies[CONFIGURATION] = says(503, {})

        clock.now += keeping.FRESH_SECONDS
        for _ in range(5):
            assert await keys.find("e", "ES256")
        assert issuer.asked.count(CONFIGURATION) == 2
        clock.now += keeping.MAX_CACHE_SECONDS
        for _ in range(5):
            with pytest.raises(Unavailable, match="responds with HTTP 503"):
                await keys.find("e", "ES256")
        assert issuer.asked.count(CONFIGURATION) == 3

        del issuer.replies[CONFIGURATION]
        clock.now += keeping.RETRY_SECONDS
        assert await keys.find("e", "ES256")


@pytest.mark.parametrize("path", [CONFIGURATION, KEYS])
async def test_an_issuer_that_dawdles_is_given_up(path: str) -> None:
    async with issuing(ec_key("e")) as issuer:
        issuer.replies[path] = SILENT
        assert "no answer in time" in await fault(issuer, timeouts=IMPATIENT)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (says(200, {"issuer": "https://evil.example.com", "jwks_uri": "x"}), "another issuer"),
        (says(200, {"jwks_uri": "x"}), "another issuer"),
        (says(200, []), "not respond with a JSON object"),
        (FakeReply(200, b"<html>"), "not respond with a JSON object"),
        (FakeReply(200, b'{"a":"' + b"x" * MAX_BYTES + b'"}'), "not respond with a JSON object"),
        (FakeReply(200, b"{}", cut=1), "cut off"),
        (FakeReply(raw=b"SMTP ready\r\n\r\n"), "not HTTP"),
        (FakeReply(302, b"", {"location": "http://127.0.0.1:1/"}), "responds with HTTP 302"),
    ],
)
async def test_an_issuer_that_lies_is_not_believed(reply: FakeReply, why: str) -> None:
    async with issuing(ec_key("e")) as issuer:
        issuer.replies[CONFIGURATION] = reply
        assert why in await fault(issuer, timeouts=IMPATIENT)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("file:///etc/passwd", "must begin with https"),
        ("http://keys.example.com/", "must begin with https"),
        ("http://192.168.0.1/keys", "must begin with https"),
        ("https://127.0.0.2/keys", "is not a public address"),
        ("https://[::1]/latest", "is not a public address"),
        ("https://user:secret@example.com/", "no login"),
        ("https://example.com/\r\nX: y", "invalid characters"),
        (17, "has no jwks_uri"),
    ],
)
async def test_keys_are_not_fetched_from_where_an_issuer_must_not_send_us(
    address: object, why: str
) -> None:
    async with issuing(ec_key("e")) as issuer:
        issuer.replies[CONFIGURATION] = says(200, {"issuer": issuer.name, "jwks_uri": address})
        assert why in await fault(issuer)


async def test_an_issuer_inside_is_asked_only_where_the_operator_allowed_its_network() -> None:
    async with issuing(ec_key("e")) as issuer:
        keys = IssuerKeys(issuer.name, Fetcher(NetworkPolicy(), timeouts=PATIENT))
        with pytest.raises(Unavailable, match="is not a public address"):
            await keys.find("e", "ES256")
        assert issuer.asked == []


@pytest.mark.parametrize(
    "published",
    [
        {},
        {"keys": None},
        {"keys": {"e": 1}},
        {"keys": [{"kid": str(n)} for n in range(51)]},
    ],
)
async def test_what_is_no_list_of_keys_is_refused(published: Any) -> None:
    async with issuing(ec_key("e")) as issuer:
        issuer.replies[KEYS] = says(200, published)
        assert "has no list of at most 50 keys" in await fault(issuer)


@pytest.mark.parametrize(
    "other",
    [
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": "RSA"},
        {"use": "enc"},
        {"alg": "ES384"},
        {"crv": "P-384"},
        {"key_ops": ["sign"]},
        {"key_ops": "verify"},
        {"kid": "f"},
        {"kid": ["e"]},
        {"x": None},
        {"x": "AAAA"},
        {"x": "!" * 43},
        {"x": "A" * 5000},
        {"y": ec_key("off").public["y"]},
    ],
)
def test_a_key_that_does_not_fit_is_none(other: dict[str, Any]) -> None:
    assert chosen([ec_key("e").jwk], "e", "ES256") is not None
    assert chosen([ec_key("e").jwk | other], "e", "ES256") is None


def test_weak_and_ambiguous_keys_are_none() -> None:
    assert chosen([rsa_key("r").jwk], "r", "RS256") is not None
    assert chosen([rsa_key("weak", bits=1024).jwk], "weak", "RS256") is None
    assert chosen([ec_key("e").jwk, ec_key("e2").jwk | {"kid": "e"}], "e", "ES256") is None
    assert chosen([ed_key("o").jwk | {"crv": "X25519"}], "o", "EdDSA") is None


async def test_a_token_is_not_refused_for_good_because_the_issuer_was_away() -> None:
    async with issuing(ec_key("e")) as issuer:
        clock = Clock()
        wanted = OidcSettings(issuer.name, AUDIENCE)
        tokens = SignedTokens(wanted, kept(issuer, clock))
        issuer.replies[KEYS] = says(500, {})
        with pytest.raises(Unavailable):
            await tokens.read(issuer.token(ec_key("e")))

        del issuer.replies[KEYS]
        clock.now += keeping.RETRY_SECONDS

        assert (await tokens.read(issuer.token(ec_key("e")))).subject == "user-1"
        with pytest.raises(Unauthorized):
            await tokens.read(issuer.token(ec_key("unknown")))
