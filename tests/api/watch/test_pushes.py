"""A push of Gmail wakes the inboxes of its address, and proves that Google sent it."""

import base64
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx2
import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.oidc.issuer import Key, rsa_key, written
from tests.adapters.sending.fake import FakeReply
from tests.api.support.calling import Calling, calling
from tests.api.support.wired import MASTER
from tests.watch.fake_gmail import ADDRESS, CLIENT_ID, CLIENT_SECRET, FakeGmail, fake_gmail
from tests.watch.gmail.watched import watched

pytestmark = pytest.mark.anyio
PUSH = "/push/gmail"
PUBLIC = "https://mail.example.com"
ACCOUNT = "push@project.example.com"
LEFT = "SELECT extract(epoch FROM run_at - now())::integer FROM mailqueue.mailboxes WHERE id = %s"


@dataclass
class Site:
    """The API, and Google with the key that it signs with."""

    api: Calling
    google: FakeGmail
    key: Key

    def token(self, key: Key | None = None, **other: Any) -> str:
        """Return a token of a push; None leaves a claim out."""
        now, signs = int(time.time()), key or self.key
        usual = {
            "iss": self.google.url,
            "aud": PUBLIC + PUSH,
            "sub": "1234567890",
            "email": ACCOUNT,
            "email_verified": True,
            "iat": now,
            "exp": now + 3600,
        }
        claims = {name: value for name, value in (usual | other).items() if value is not None}
        return written({"alg": signs.alg, "kid": signs.kid, "typ": "JWT"}, claims, signs.sign)

    async def push(
        self, *, token: str | None = None, address: Any = ADDRESS, body: bytes | None = None
    ) -> httpx2.Response:
        """Push a message as Pub/Sub does."""
        data = base64.b64encode(json.dumps({"emailAddress": address, "historyId": 9}).encode())
        message = {"data": data.decode(), "messageId": "1", "attributes": {}}
        document = {"message": message, "subscription": "projects/p/subscriptions/s"}
        headers = {"Authorization": f"Bearer {token or self.token()}"}
        content = json.dumps(document).encode() if body is None else body
        return await self.api.http.post(PUSH, content=content, headers=headers)


@pytest.fixture
async def site(database: DatabaseSettings) -> AsyncIterator[Site]:
    async with fake_gmail() as google:
        key = rsa_key("google-1")
        google.keys = [key.jwk]
        options = {
            "gmail_client_id": CLIENT_ID,
            "gmail_client_secret": CLIENT_SECRET,
            "gmail_url": google.url,
            "gmail_topic": "projects/example/topics/inboxes",
            "gmail_push_account": ACCOUNT,
            "allowed_hosts": "127.0.0.0/8",
            "public_url": PUBLIC,
        }
        async with calling(database, master_key=Secret(MASTER), **options) as api:
            yield Site(api, google, key)


@pytest.fixture
async def conn(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as opened:
        yield opened


async def later(conn: Conn) -> UUID:
    """Watch an inbox that is due in an hour; return its id."""
    inbox_id = await watched(conn)
    await conn.execute("UPDATE mailqueue.mailboxes SET run_at = now() + interval '1 h'")
    return inbox_id


async def test_a_push_wakes_the_inbox_and_changes_nothing_else(site: Site, conn: Conn) -> None:
    inbox_id = await later(conn)
    seen = "SELECT cursor, status, attempts, claim_no FROM mailqueue.mailboxes"
    before = await make.rows(conn, seen)

    for _ in range(2):  # Pub/Sub delivers at least once
        answer = await site.push(address="Ann@Example.com")
        assert (answer.status_code, answer.content) == (204, b"")

    assert await make.scalar(conn, LEFT, inbox_id) <= 0
    assert await make.rows(conn, seen) == before


async def test_only_google_s_token_for_this_subscription_is_taken(site: Site, conn: Conn) -> None:
    inbox_id = await later(conn)
    other = rsa_key("google-2")
    now = int(time.time())
    refused = [
        site.token(iss="https://accounts.example.com"),
        site.token(aud="https://other.example.com/push/gmail"),
        site.token(email="eve@project.example.com"),
        site.token(email=None),
        site.token(email_verified=False),
        site.token(email_verified="true"),
        site.token(exp=now - 3600, iat=now - 7200),
        site.token(iat=now + 3600, exp=now + 7200),
        site.token(other),
        written({"alg": "none"}, {}, lambda _: b""),
        site.token()[:-4] + "AAAA",
        "x",
    ]
    for token in refused:
        answer = await site.push(token=token)
        assert answer.status_code == 401, token
        assert ACCOUNT not in answer.text
    forged = Key("google-1", "RS256", {}, other.sign)
    assert (await site.push(token=site.token(forged))).status_code == 401
    assert (await site.api.http.post(PUSH, content=b"{}")).status_code == 401

    assert await make.scalar(conn, LEFT, inbox_id) > 3000


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b'{"message": 1}',
        b'{"message": {"data": 7}}',
        b'{"message": {"data": "***"}}',
        b'{"message": {"data": "W10="}}',
        b'{"message": {"data": "eyJlbWFpbEFkZHJlc3MiOiA3fQ=="}}',
    ],
)
async def test_a_push_without_an_address_is_taken_and_wakes_nothing(
    site: Site, conn: Conn, body: bytes
) -> None:
    inbox_id = await later(conn)
    assert (await site.push(body=body)).status_code == 204
    assert (await site.push(address="eve@example.com")).status_code == 204
    assert (await site.push(address="a\0b@example.com")).status_code == 204
    assert await make.scalar(conn, LEFT, inbox_id) > 3000


async def test_an_enormous_push_is_refused(site: Site) -> None:
    assert (await site.push(body=b"x" * 70_000)).status_code == 413


@pytest.mark.parametrize(
    "change",
    ["paused_by = 'ann'", "last_error = 'Gmail: rateLimitExceeded'", "provider = 'imap'"],
)
async def test_a_pause_a_quota_and_an_inbox_by_imap_are_not_cut_short(
    site: Site, conn: Conn, change: str
) -> None:
    inbox_id = await later(conn)
    await conn.execute(f"UPDATE mailqueue.mailboxes SET {change}".encode())
    assert (await site.push()).status_code == 204
    assert await make.scalar(conn, LEFT, inbox_id) > 3000


async def test_keys_that_cannot_be_fetched_let_pub_sub_try_again(site: Site) -> None:
    site.google.script["/certs"] = [FakeReply(503, b"busy")]
    answer = await site.push()
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "30"


async def test_without_a_topic_there_is_no_endpoint(database: DatabaseSettings) -> None:
    async with calling(database, master_key=Secret(MASTER), public_url=PUBLIC) as api:
        assert (await api.http.post(PUSH, content=b"{}")).status_code == 404
