"""Access tokens: of a service account or a refresh token, cached, renewed, and never shown."""

import asyncio
import base64
import json
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qsl, quote_plus

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.sending.api import ProviderAccount
from mailqueue.adapters.sending.gmail import Gmail
from mailqueue.adapters.sending.oauth import (
    GOOGLE_TOKENS,
    SEND_MAIL,
    RefreshToken,
    ServiceAccount,
    Tokens,
    grant_of,
)
from mailqueue.core.conversation import document_of
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, conversation_of
from tests.adapters.sending.fake import CLOSES, SILENT, Fake, FakeReply, fake, says
from tests.adapters.sending.mails import IMPATIENT, PATIENT, mail, rejected, verdict_of
from tests.adapters.sending.providers import GMAIL

pytestmark = [pytest.mark.anyio]
LOOPBACK = NetworkPolicy(allow_private=True)
MAILBOX = "shop@example.com"
REFRESH = {"client_id": "id-1", "client_secret": "secret-2", "refresh_token": "1//refresh-3"}
GRANTED = says(200, {"access_token": "ya29.token", "expires_in": 3599, "token_type": "Bearer"})


def url_of(server: Fake) -> str:
    return f"http://127.0.0.1:{server.port}/token"


def tokens_of(server: Fake, document: dict[str, Any] = REFRESH, **more: Any) -> Tokens:
    grant = grant_of(
        Secret(json.dumps(document)), mailbox=MAILBOX, scope=SEND_MAIL, token_url=url_of(server)
    )
    return Tokens(grant, LOOPBACK, timeouts=more.get("timeouts", PATIENT))


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def key_file(key: rsa.RSAPrivateKey) -> dict[str, str]:
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {
        "type": "service_account",
        "client_email": "robot@project.example.com",
        "private_key": pem.decode(),
        "private_key_id": "kid-1",
        "token_uri": GOOGLE_TOKENS,
    }


def decoded(text: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


async def test_a_refresh_token_is_traded_for_an_access_token() -> None:
    async with fake([GRANTED]) as server:
        token = await tokens_of(server).get()

    assert isinstance(token, Secret)
    assert token.reveal() == "ya29.token"
    [request] = server.requests
    assert (request.method, request.path) == ("POST", "/token")
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert parse_qsl(request.body.decode()) == [
        ("grant_type", "refresh_token"),
        ("refresh_token", "1//refresh-3"),
        ("client_id", "id-1"),
        ("client_secret", "secret-2"),
    ]


async def test_a_service_account_signs_for_the_mailbox_it_acts_for(key: rsa.RSAPrivateKey) -> None:
    async with fake([GRANTED]) as server:
        token = await tokens_of(server, key_file(key)).get()

        assert isinstance(token, Secret)
        form = dict(parse_qsl(server.requests[0].body.decode()))
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        head, claims, signature = form["assertion"].split(".")
        assert decoded(head) == {"alg": "RS256", "typ": "JWT", "kid": "kid-1"}
        said = decoded(claims)
        assert said.pop("exp") - said.pop("iat") == 3600
        assert said == {
            "iss": "robot@project.example.com",
            "sub": MAILBOX,
            "aud": url_of(server),
            "scope": "https://www.googleapis.com/auth/gmail.send",
        }
    octets = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    signed = f"{head}.{claims}".encode()
    key.public_key().verify(octets, signed, padding.PKCS1v15(), hashes.SHA256())


async def test_a_token_is_fetched_once_for_all_who_wait_and_kept() -> None:
    async with fake([GRANTED]) as server:
        tokens = tokens_of(server)
        found = await asyncio.gather(*(tokens.get() for _ in range(20)))
        await tokens.get()

        assert {one.reveal() for one in found if isinstance(one, Secret)} == {"ya29.token"}
        assert len(server.requests) == 1


@pytest.mark.parametrize("seconds", [0, "100", None, "soon"])
async def test_a_token_that_ends_soon_is_not_kept(seconds: object) -> None:
    said = {"access_token": "ya29.token", "expires_in": seconds}
    async with fake([says(200, said)]) as server:
        tokens = tokens_of(server)
        await tokens.get()
        await tokens.get()

        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (says(400, {"error": "invalid_grant", "error_description": "revoked"}), Fault.ACCOUNT),
        (says(401, {"error": "invalid_client"}), Fault.ACCOUNT),
        (says(401, {"error": "unauthorized_client"}), Fault.ACCOUNT),
        (says(400, {"error": "invalid_scope"}), Fault.ACCOUNT),
        (says(403, {"error": "access_denied"}), Fault.ACCOUNT),
        # An unrecognized refusal pauses the account.
        (says(200, {"token": "x"}), Fault.TRANSIENT),
        (says(200, {"access_token": "a\r\nX-Evil: 1"}), Fault.TRANSIENT),
        (says(400, {"error": "qapla"}), Fault.TRANSIENT),
        (says(418, {}), Fault.TRANSIENT),
        (FakeReply(302, b"", {"location": "http://example.com/"}), Fault.TRANSIENT),
        (says(403, {"error": "rate_limit_exceeded"}), Fault.RATE_LIMITED),
        (says(403, {"error": "quota_exceeded", "error_description": "daily"}), Fault.RATE_LIMITED),
        (says(408, {}), Fault.TRANSIENT),
        (says(429, {}), Fault.TRANSIENT),
        (says(500, {"error": "internal_failure"}), Fault.TRANSIENT),
        (says(400, {"error": "temporarily_unavailable"}), Fault.TRANSIENT),
        (says(503, {"error": "server_error"}), Fault.TRANSIENT),
        (CLOSES, Fault.TRANSIENT),
        (SILENT, Fault.TRANSIENT),
    ],
)
async def test_a_refused_token_concerns_the_account_or_passes(
    reply: FakeReply, kind: Fault
) -> None:
    async with fake([reply]) as server:
        refused = await tokens_of(server, timeouts=IMPATIENT).get()

    assert isinstance(refused, Rejected)
    assert (refused.kind, refused.stage) == (kind, Stage.CONNECT)
    assert "refresh-3" not in repr(refused)


async def test_a_clock_that_is_wrong_is_set_by_the_token_servers(key: rsa.RSAPrivateKey) -> None:
    refused = {"error": "invalid_grant", "error_description": "Invalid JWT: iat and exp"}
    theirs = says(400, refused, date="Fri, 02 Jan 2026 03:04:05 GMT")
    async with fake([theirs, GRANTED]) as server:
        token = await tokens_of(server, key_file(key)).get()

        assert isinstance(token, Secret)
        form = dict(parse_qsl(server.requests[1].body.decode()))
    issued = decoded(form["assertion"].split(".")[1])["iat"]
    assert 0 <= issued - datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp() < 30


async def test_a_token_that_is_refused_by_a_clock_like_ours_is_asked_for_once() -> None:
    now = format_datetime(datetime.now(UTC), usegmt=True)
    async with fake([says(400, {"error": "invalid_grant"}, date=now)]) as server:
        refused = await tokens_of(server).get()

        assert isinstance(refused, Rejected)
        assert len(server.requests) == 1


async def test_no_refused_token_shows_what_it_was_asked_for_with() -> None:
    words = "1//refresh-3 of secret-2 was revoked"
    said = {"error": "invalid_grant", "error_description": words}
    async with fake([says(400, said)]) as server:
        refused = await tokens_of(server).get()

    assert isinstance(refused, Rejected)
    assert refused.detail == "token: invalid_grant *** of *** was revoked"


async def test_no_refused_token_shows_an_encoded_secret() -> None:
    echoes = [
        quote_plus("1//refresh-3"),
        base64.b64encode(b"id-1:secret-2").decode(),
    ]
    said = {"error": "invalid_grant", "error_description": " and ".join(echoes)}
    async with fake([says(400, said)]) as server:
        refused = await tokens_of(server).get()

    assert isinstance(refused, Rejected)
    assert refused.detail == "token: invalid_grant *** and ***"


async def test_a_token_server_inside_is_not_asked_for_a_tenant() -> None:
    async with fake([GRANTED]) as server:
        grant = grant_of(
            Secret(json.dumps(REFRESH)), mailbox="", scope="", token_url=url_of(server)
        )
        refused = await Tokens(grant, NetworkPolicy()).get()

    assert isinstance(refused, Rejected)
    assert refused.kind is Fault.ACCOUNT
    assert server.connections == 0


async def test_a_token_that_gmail_does_not_take_is_renewed_once() -> None:
    second = says(200, {"access_token": "ya29.second", "expires_in": 3599})
    unknown = says(401, {"error": {"code": 401, "errors": [{"reason": "authError"}]}})
    async with fake([GRANTED, second]) as server, fake([unknown, GMAIL.accepts]) as api:
        service = Gmail(ProviderAccount(Secret(""), MAILBOX, api.site), tokens_of(server))
        verdict = await verdict_of(service, mail())

        assert isinstance(verdict, Accepted)
        assert [one.headers["authorization"] for one in api.requests] == [
            "Bearer ya29.token",
            "Bearer ya29.second",
        ]
        assert {one.path for one in api.requests} == {
            "/gmail/v1/users/shop@example.com/messages/send"
        }


async def test_gmail_shows_no_token_that_it_echoes() -> None:
    said = {
        "error": {"code": 403, "message": "bad ya29.token", "errors": [{"reason": "forbidden"}]}
    }
    async with fake([GRANTED]) as server, fake([says(403, said)]) as api:
        service = Gmail(ProviderAccount(Secret(""), MAILBOX, api.site), tokens_of(server))
        verdict = await rejected(service, mail())

    assert "ya29.token" not in verdict.detail
    assert "***" in verdict.detail


async def test_gmail_shows_no_token_that_was_renewed_meanwhile() -> None:
    second = says(200, {"access_token": "ya29.second", "expires_in": 3599})
    unknown = FakeReply(401, b"{}", {"WWW-Authenticate": 'Bearer error="ya29.token"'})
    said = {
        "error": {"code": 403, "message": "not ya29.token", "errors": [{"reason": "forbidden"}]}
    }
    async with fake([GRANTED, second]) as server, fake([unknown, says(403, said)]) as api:
        service = Gmail(ProviderAccount(Secret(""), MAILBOX, api.site), tokens_of(server))
        verdict = await rejected(service, mail())

    record = conversation_of(verdict)
    assert record is not None
    assert "www-authenticate" in document_of(record)
    assert "ya29.token" not in f"{verdict.detail} {document_of(record)}"


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ("no json", "must be a JSON document"),
        ("[]", "must be a JSON document"),
        ('{"client_id": "a"}', "lacks client_secret, refresh_token"),
        ('{"type": "service_account"}', "lacks client_email, private_key, private_key_id"),
        (
            '{"type": "service_account", "token_uri": "https://evil.example/token"}',
            "token_uri of the key file differs from the account's token_url",
        ),
    ],
)
def test_a_document_that_is_none_says_what_it_lacks(document: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        grant_of(Secret(document), mailbox=MAILBOX, scope="", token_url="")


def test_no_grant_can_be_printed_with_its_secrets(key: rsa.RSAPrivateKey) -> None:
    file = key_file(key)
    grants = [
        grant_of(Secret(json.dumps(one)), mailbox=MAILBOX, scope="") for one in (REFRESH, file)
    ]

    assert [type(one) for one in grants] == [RefreshToken, ServiceAccount]
    assert "secret-2" not in repr(grants)
    assert "refresh-3" not in repr(grants)
    assert "PRIVATE" not in repr(grants)
