"""Published attacks on the code flow, each refused (RFC 9700, RFC 8725, OpenID Connect Core)."""

import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.oidc.issuer import ec_key, encoded, rsa_key, written
from tests.console.login.hostile import (
    BACK,
    CLIENT,
    KEY,
    START,
    AtIssuer,
    at_issuer,
    text_of,
)
from tests.rows import each_row

pytestmark = pytest.mark.anyio

AN_ADMIN = {"groups": ["admins"]}


@pytest.fixture
async def at(database: DatabaseSettings) -> AsyncIterator[AtIssuer]:
    async with at_issuer(database) as made:
        made.issuer.said = dict(AN_ADMIN)
        yield made


async def assert_refused(at: AtIssuer, response: httpx2.Response, why: str) -> None:
    """Assert that a login was refused, for this reason, and that there is no session."""
    assert response.status_code == 401, response.text
    assert why in text_of(response)
    assert "mailqueue_session" not in response.cookies
    async with at.console.connection() as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.console_sessions") == 0


async def test_the_answer_to_another_browser_is_refused(at: AtIssuer) -> None:
    """Login CSRF: an attacker's own answer is sent to the browser of a victim."""
    async with at.console.visitor() as attacker, at.console.visitor() as victim:
        asked = await at.begin(attacker)
        answer = {"state": asked["state"], "code": at.issuer.issue(asked)}
        await assert_refused(at, await at.answered(victim, **answer), "not begun in this browser")
        await at.begin(victim)
        await assert_refused(at, await at.answered(victim, **answer), "not begun in this browser")
        assert at.issuer.bodies == [], "the code was not even used"


async def test_a_code_that_was_stolen_is_of_no_use_in_another_login(at: AtIssuer) -> None:
    """Code injection: PKCE binds a code to the browser that asked for it."""
    async with at.console.visitor() as victim, at.console.visitor() as attacker:
        stolen = at.issuer.issue(await at.begin(victim))
        mine = await at.begin(attacker)
        response = await at.answered(attacker, state=mine["state"], code=stolen)
        await assert_refused(at, response, "invalid_grant")


async def test_an_answer_is_used_once(at: AtIssuer) -> None:
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        cookie = {"Cookie": f"mailqueue_login={visitor.http.cookies['mailqueue_login']}"}
        answer = {"state": asked["state"], "code": at.issuer.issue(asked)}
        first = await at.answered(visitor, **answer)
        assert first.status_code == 303
        assert "mailqueue_login" not in visitor.http.cookies
    async with at.console.visitor() as another:
        again = await another.http.get(BACK, params=answer, headers=cookie)

    assert (again.status_code, "used before" in text_of(again)) == (401, True)
    assert "mailqueue_session" not in again.cookies


async def test_a_page_that_is_loaded_again_after_the_login_goes_on(at: AtIssuer) -> None:
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        answer = {"state": asked["state"], "code": at.issuer.issue(asked)}
        await at.answered(visitor, **answer)
        again = await at.answered(visitor, **answer)

    assert (again.status_code, again.headers["location"]) == (303, "/console")


@pytest.mark.parametrize("iss", ["https://evil.example.com", "", None])
async def test_an_answer_of_another_issuer_is_refused(at: AtIssuer, iss: str | None) -> None:
    """Mix-up: RFC 9207."""
    at.issuer.more = {"authorization_response_iss_parameter_supported": True}
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        answer = {"state": asked["state"], "code": at.issuer.issue(asked)}
        answer |= {} if iss is None else {"iss": iss}
        await assert_refused(at, await at.answered(visitor, **answer), "another issuer")
        assert at.issuer.bodies == [], "the code was not sent"


async def test_the_right_issuer_in_the_answer_is_accepted(at: AtIssuer) -> None:
    at.issuer.more = {"authorization_response_iss_parameter_supported": True}
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        answer = {"state": asked["state"], "code": at.issuer.issue(asked), "iss": at.issuer.name}
        assert (await at.answered(visitor, **answer)).status_code == 303


async def test_a_nonce_of_an_earlier_login_is_refused(at: AtIssuer) -> None:
    """Token replay: an ID token of another login stands in the answer."""
    async with at.console.visitor() as visitor:
        earlier = await at.begin(visitor)
        at.issuer.said |= {"nonce": earlier["nonce"]}
        asked = await at.begin(visitor)
        response = await at.answered(visitor, state=asked["state"], code=at.issuer.issue(asked))
        await assert_refused(at, response, "belongs to another login")


FAULTS: dict[str, dict[str, Any]] = {
    "iss": {"iss": "https://evil.example.com"},
    "aud": {"aud": "another-client"},
    "aud of many": {"aud": ["another-client", "third"], "azp": CLIENT},
    "no azp": {"aud": [CLIENT, "another-client"]},
    "azp": {"aud": [CLIENT, "another-client"], "azp": "another-client"},
    "azp alone": {"azp": "another-client"},
    "no nonce": {"nonce": None},
    "nonce of a type": {"nonce": ["x"]},
    "no exp": {"exp": None},
    "no iat": {"iat": None},
    "no sub": {"sub": None},
}


@each_row("fault", FAULTS)
async def test_an_id_token_for_another_is_refused(at: AtIssuer, fault: str) -> None:
    at.issuer.said = AN_ADMIN | FAULTS[fault]
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        response = await at.answered(visitor, state=asked["state"], code=at.issuer.issue(asked))
        await assert_refused(at, response, "token is not valid")


@each_row("claim, seconds", [("exp", -3600), ("iat", -3600), ("nbf", 3600)])
async def test_an_id_token_of_another_time_is_refused(
    at: AtIssuer, claim: str, seconds: int
) -> None:
    at.issuer.said = AN_ADMIN | {claim: int(time.time()) + seconds}
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        response = await at.answered(visitor, state=asked["state"], code=at.issuer.issue(asked))
        await assert_refused(at, response, "token is not valid")


async def test_a_clock_that_is_a_little_wrong_is_tolerated(at: AtIssuer) -> None:
    at.issuer.said |= {"iat": int(time.time()) + 30, "nbf": int(time.time()) + 30}
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        response = await at.answered(visitor, state=asked["state"], code=at.issuer.issue(asked))

    assert response.status_code == 303


def _none(claims: dict[str, Any]) -> str:
    header = encoded(json.dumps({"alg": "none"}).encode())
    return f"{header}.{encoded(json.dumps(claims).encode())}."


def _by_public_key(claims: dict[str, Any]) -> str:
    def mac(data: bytes) -> bytes:
        return hmac.new(json.dumps(KEY.jwk).encode(), data, hashlib.sha256).digest()

    return written({"alg": "HS256", "kid": KEY.kid}, claims, mac)


def _by_client_secret(claims: dict[str, Any]) -> str:
    def mac(data: bytes) -> bytes:
        return hmac.new(b"", data, hashlib.sha256).digest()

    return written({"alg": "HS256"}, claims, mac)


def _by_another_key(claims: dict[str, Any]) -> str:
    return written({"alg": "ES256", "kid": KEY.kid}, claims, ec_key("mine").sign)


def _by_a_key_inside(claims: dict[str, Any]) -> str:
    mine = rsa_key("mine")
    return written({"alg": "RS256", "kid": "mine", "jwk": mine.jwk}, claims, mine.sign)


@each_row("sign", [_none, _by_public_key, _by_client_secret, _by_another_key, _by_a_key_inside])
async def test_an_id_token_that_the_issuer_did_not_sign_is_refused(
    at: AtIssuer, sign: Callable[[dict[str, Any]], str]
) -> None:
    at.issuer.sign = sign
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        response = await at.answered(visitor, state=asked["state"], code=at.issuer.issue(asked))
        await assert_refused(at, response, "token is not valid")


async def test_an_access_token_of_another_login_is_not_used(at: AtIssuer) -> None:
    """Token substitution: at_hash binds the access token to the ID token."""
    at.issuer.user = {"sub": "user-1", "groups": ["admins"]}
    async with at.console.visitor() as visitor:
        for given in ("x", 7, encoded(hashlib.sha256(b"another").digest()[:16])):
            at.issuer.said = {"at_hash": given}
            asked = await at.begin(visitor)
            answer = {"state": asked["state"], "code": at.issuer.issue(asked)}
            await assert_refused(at, await at.answered(visitor, **answer), "at_hash")
        at.issuer.said = {"at_hash": encoded(hashlib.sha256(b"access").digest()[:16])}
        asked = await at.begin(visitor)
        answer = {"state": asked["state"], "code": at.issuer.issue(asked)}
        assert (await at.answered(visitor, **answer)).status_code == 303

    assert at.issuer.asked.count("/realms/staff/user") == 1


async def test_a_refusal_of_the_issuer_is_said_without_its_words(at: AtIssuer) -> None:
    async with at.console.visitor() as visitor:
        for given, shown in (
            ({"error": "access_denied", "error_description": "call 0900"}, "access_denied"),
            ({"error": "<script>" + "x" * 200}, "no reason"),
        ):
            asked = await at.begin(visitor)
            response = await at.answered(visitor, state=asked["state"], **given)
            await assert_refused(at, response, shown)
            assert "0900" not in response.text


async def test_an_answer_with_a_parameter_twice_is_refused(at: AtIssuer) -> None:
    async with at.console.visitor() as visitor:
        asked = await at.begin(visitor)
        code = at.issuer.issue(asked)
        response = await visitor.get(f"{BACK}?state={asked['state']}&code={code}&code=other")
        await assert_refused(at, response, "not valid")


async def test_a_session_that_was_fixed_in_advance_is_not_used(at: AtIssuer) -> None:
    async with at.console.visitor() as visitor:
        visitor.http.cookies.set("mailqueue_session", "chosen-by-an-attacker")
        asked = await at.begin(visitor)
        answer = {"state": asked["state"], "code": at.issuer.issue(asked)}
        response = await at.answered(visitor, **answer)

    assert response.cookies["mailqueue_session"] != "chosen-by-an-attacker"


async def test_the_secrets_of_a_login_are_not_told_to_the_issuer_or_to_scripts(
    at: AtIssuer,
) -> None:
    async with at.console.visitor() as visitor:
        response = await visitor.get(START)
        url, cookie = response.headers["location"], response.headers["set-cookie"]
        secret = visitor.http.cookies["mailqueue_login"].partition(".")[0]

    assert secret not in url
    assert "code_verifier" not in url
    for part in ("HttpOnly", "SameSite=lax", "Max-Age=600"):
        assert part in cookie


@pytest.mark.parametrize(
    "more",
    [
        {"code_challenge_methods_supported": ["plain"]},
        {"authorization_endpoint": "http://login.example.com/authorize"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": None},
        {"issuer": "https://evil.example.com"},
    ],
)
async def test_a_configuration_that_is_not_safe_is_refused(
    at: AtIssuer, more: dict[str, Any]
) -> None:
    at.issuer.more = more
    async with at.console.visitor() as visitor:
        response = await visitor.get(START)

    assert response.status_code == 503
    assert 'name="password"' in response.text


async def test_an_issuer_at_a_private_address_is_not_asked_unless_it_is_allowed(
    database: DatabaseSettings,
) -> None:
    async with (
        at_issuer(database, oidc_allowed_hosts="10.0.0.0/8") as at,
        at.console.visitor() as visitor,
    ):
        response = await visitor.get(START)

    assert response.status_code == 503
    assert "not a public address" in text_of(response)
    assert at.issuer.asked == []
