"""The fake of Gmail answers Google's own client as documented."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import requests
from google.auth.exceptions import RefreshError
from google.auth.transport.requests import Request as GoogleRequest
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build  # type: ignore[import-untyped]
from googleapiclient.errors import HttpError  # type: ignore[import-untyped]

from mailqueue.adapters.mailboxes.gmail.reader import GmailReader
from mailqueue.core.secret import Secret
from mailqueue.ports.mailbox import MailboxAccess, MailboxTls
from tests.adapters.sending.fake import FakeReply
from tests.watch.fake_gmail import ADDRESS, CLIENT_ID, CLIENT_SECRET, FakeGmail, fake_gmail
from tests.webhooks.delivering import LOOPBACK

TOPIC = "projects/example/topics/inboxes"
pytestmark = pytest.mark.anyio


@pytest.fixture
async def server() -> AsyncIterator[FakeGmail]:
    async with fake_gmail() as state:
        yield state


@contextmanager
def client(server: FakeGmail) -> Iterator[Any]:
    """Yield Google's client, which gets its access token by the refresh token."""
    credentials = Credentials(  # type: ignore[no-untyped-call]
        None,
        refresh_token="refresh-0",
        token_uri=f"{server.url}/token",
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
    )
    with requests.Session() as session:
        credentials.refresh(GoogleRequest(session))  # type: ignore[no-untyped-call]
    options = {"api_endpoint": server.url}
    with build(
        "gmail", "v1", credentials=credentials, client_options=options, static_discovery=True
    ) as service:
        yield service.users()


async def test_the_official_client_reads_what_was_added_and_its_metadata(
    server: FakeGmail,
) -> None:
    server.page = 2

    def read() -> tuple[Any, list[Any], Any]:
        with client(server) as users:
            return listed(users)

    def listed(users: Any) -> tuple[Any, list[Any], Any]:
        profile = users.getProfile(userId="me").execute()
        added = [server.add(f"Mail {number}", size=35_000_000) for number in range(3)]
        asked = users.history().list(
            userId="me",
            startHistoryId=profile["historyId"],
            historyTypes=["messageAdded"],
            labelId="INBOX",
        )
        pages = []
        while asked is not None:
            pages.append(asked.execute())
            asked = users.history().list_next(asked, pages[-1])
        message = users.messages().get(
            userId="me", id=added[0].id, format="metadata", metadataHeaders=["Subject", "From"]
        )
        return profile, pages, message.execute()

    profile, pages, message = await asyncio.to_thread(read)

    assert profile["emailAddress"] == ADDRESS
    found = [
        one["message"]["id"]
        for page in pages
        for record in page["history"]
        for one in record["messagesAdded"]
    ]
    assert found == [one.id for one in server.messages]
    assert pages[-1]["historyId"] == str(server.history)
    headers = {one["name"]: one["value"] for one in message["payload"]["headers"]}
    assert headers == {"Subject": "Mail 0", "From": "Bob <bob@example.com>"}
    assert "body" not in message["payload"]


@pytest.mark.parametrize(
    ("start", "label", "status", "reason"),
    [(1, "INBOX", 404, "notFound"), (1000, "Label_9", 400, "invalidArgument")],
)
async def test_the_official_client_reads_the_errors_of_the_fake(
    server: FakeGmail, start: int, label: str, status: int, reason: str
) -> None:
    server.oldest = 500

    def read() -> Any:
        asked = {"startHistoryId": start, "historyTypes": ["messageAdded"], "labelId": label}
        with client(server) as users:
            return users.history().list(userId="me", **asked).execute()

    with pytest.raises(HttpError) as caught:
        await asyncio.to_thread(read)

    assert caught.value.status_code == status
    assert caught.value.error_details[0]["reason"] == reason


async def test_the_official_client_asks_the_fake_for_pushes_as_we_do(server: FakeGmail) -> None:
    wanted = {"topicName": TOPIC, "labelIds": ["INBOX"], "labelFilterBehavior": "INCLUDE"}

    def ask() -> Any:
        with client(server) as users:
            return users.watch(userId="me", body=wanted).execute()

    answer = await asyncio.to_thread(ask)

    assert int(answer["historyId"]) == server.history
    assert int(answer["expiration"]) > 1_000_000_000_000, "milliseconds"
    reader = GmailReader(server.client, LOOPBACK, topic=TOPIC)
    access = MailboxAccess(
        "gmail.googleapis.com", 443, MailboxTls.IMPLICIT, ADDRESS, Secret("refresh-0"), ["INBOX"]
    )
    await reader.scan(access, {}, since=None)
    assert server.watches == [wanted, wanted]


async def test_the_official_client_sees_a_revoked_token(server: FakeGmail) -> None:
    def begin() -> None:
        with client(server):
            pass

    server.refresh_tokens.clear()
    with pytest.raises(RefreshError, match="invalid_grant"):
        await asyncio.to_thread(begin)
    server.script["/token"] = [FakeReply(401, b'{"error": "invalid_client"}')]
    with pytest.raises(RefreshError, match="invalid_client"):
        await asyncio.to_thread(begin)
