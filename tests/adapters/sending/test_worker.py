"""A worker with accounts at every provider: from a row in the queue to its outcome in history."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts
from mailqueue.senders.model import NewSender
from mailqueue.settings.environment import DatabaseSettings, Settings, load_settings
from mailqueue.vault.masterkey import MasterKey
from mailqueue.wiring import sending
from tests import make
from tests.adapters.sending.documented import KEY
from tests.adapters.sending.fake import CLOSES, Fake, FakeReply, fake, says
from tests.adapters.sending.providers import POSTMARK, PROVIDERS, SENDGRID
from tests.concurrency.running import session, until

pytestmark = pytest.mark.anyio

MASTER = bytes(range(32))
REFRESH = {"client_id": "id", "client_secret": "s", "refresh_token": "r"}
SETTINGS: dict[str, dict[str, Any]] = {
    "ses": {"region": "eu-west-1", "configuration_set": "events"},
    "mailgun": {"domain": "mg.example.com"},
    "postmark": {"message_stream": "outbound"},
}


def settings_of(database: DatabaseSettings, data: Path) -> Settings:
    key = Secret(base64.b64encode(MASTER).decode())
    return load_settings(database_url=database.url, data=data, master_key=key)


@asynccontextmanager
async def worker(settings: Settings) -> AsyncIterator[None]:
    """Run one worker during the block."""
    stop = asyncio.Event()
    running = asyncio.create_task(sending.build_send_worker(settings, launch_id=uuid4()).run(stop))
    try:
        yield
    finally:
        stop.set()
        async with asyncio.timeout(30):
            await running


async def account(conn: Conn, provider: str, server: Fake, tokens: Fake | None = None) -> None:
    """Add an account as the command line does."""
    settings = SETTINGS.get(provider, {})
    secret, username = Secret(KEY), None
    if provider == "ses":
        username = "AKIDEXAMPLE"
    if tokens is not None:
        secret, username = Secret(json.dumps(REFRESH)), "shop@example.com"
        settings = {"token_url": f"http://127.0.0.1:{tokens.port}/token"}
    new = NewSender(
        name=provider,
        provider=Provider(provider),
        email="shop@example.com",
        username=username,
        password=secret,
        api_url=f"http://127.0.0.1:{server.port}",
        settings=settings,
        is_private_ok=True,
    )
    await accounts.add(conn, new, project="default", master=MasterKey(MASTER))


async def finished(conn: Conn, email: UUID) -> str | None:
    return await make.status_of(conn, email)


async def said_of(conn: Conn, email: UUID, words: str) -> str:
    """Wait until these words are in the reason for which a mail waits; return the reason."""

    async def is_said() -> bool:
        return words in await make.scalar(conn, "SELECT mailqueue.why(%s)", email)

    await until(is_said)
    return str(await make.scalar(conn, "SELECT mailqueue.why(%s)", email))


async def test_a_row_goes_out_through_every_provider_and_its_id_is_in_history(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack, session(database) as conn:
        granted = says(200, {"access_token": KEY, "expires_in": 3599})
        tokens = await stack.enter_async_context(fake([granted]))
        servers: dict[str, Fake] = {}
        emails: dict[str, UUID] = {}
        for provider in PROVIDERS:
            server = await stack.enter_async_context(fake([provider.accepts]))
            servers[provider.name] = server
            is_gmail = provider.name == "gmail"
            await account(conn, provider.name, server, tokens if is_gmail else None)
            emails[provider.name] = await make.queued_email(
                conn,
                sender=provider.name,
                html_body="<p>Hello</p>",
                category="orders",
                tags=["spring"],
            )
        async with worker(settings_of(database, tmp_path)):

            async def all_are_sent() -> bool:
                return {await finished(conn, one) for one in emails.values()} == {"sent"}

            await until(all_are_sent)

        for provider in PROVIDERS:
            email = emails[provider.name]
            [request] = servers[provider.name].requests
            if provider.name != "gmail":  # it has no field for them
                assert str(email).encode() in request.body
                assert b"spring" in request.body
            assert await make.rows(
                conn,
                "SELECT h.provider_message_id, l.status, l.error_code FROM mailqueue.email_history"
                " AS h JOIN mailqueue.send_logs AS l ON l.email_id = h.id WHERE h.id = %s",
                email,
            ) == [(provider.message_id, "sent", str(provider.accepts.status))]


async def test_what_a_provider_refuses_has_its_outcome_and_bad_keys_stop_the_account(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    gone = says(422, {"ErrorCode": 406, "Message": "inactive"})
    unknown = says(401, {"errors": [{"message": f"bad key {KEY}", "field": None}]})
    async with (
        fake([gone]) as postmark,
        fake([unknown]) as sendgrid,
        session(database) as conn,
    ):
        await account(conn, POSTMARK.name, postmark)
        await account(conn, SENDGRID.name, sendgrid)
        bounced = await make.queued_email(conn, sender="postmark")
        waiting = await make.queued_email(conn, sender="sendgrid", recipient_email="b@example.com")
        async with worker(settings_of(database, tmp_path)):

            async def both_are_known() -> bool:
                query = "SELECT status FROM mailqueue.sender_accounts WHERE name = 'sendgrid'"
                is_stopped = await make.scalar(conn, query) == "suspended"
                return is_stopped and await finished(conn, bounced) == "failed"

            await until(both_are_known)

        assert await finished(conn, waiting) == "pending"
        reason = await make.scalar(
            conn, "SELECT status_reason FROM mailqueue.sender_accounts WHERE name = 'sendgrid'"
        )
        assert reason == "bad key ***"
        attempts = "SELECT attempts FROM mailqueue.email_queue WHERE id = %s"
        assert await make.scalar(conn, attempts, waiting) == 0
        listed = "SELECT count(*) FROM mailqueue.suppressions WHERE address = 'ann@example.com'"
        assert await make.scalar(conn, listed) == 1


async def test_mail_in_doubt_waits_for_a_person_and_a_storm_of_refusals_spends_nothing(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    slow = FakeReply(429, b"", {"retry-after": "3600"})
    async with fake([CLOSES]) as postmark, fake([slow]) as sendgrid, session(database) as conn:
        await account(conn, POSTMARK.name, postmark)
        await account(conn, SENDGRID.name, sendgrid)
        doubtful = await make.queued_email(conn, sender="postmark", delivery="hold")
        many = await make.queued_emails(conn, 40, sender="sendgrid")
        async with worker(settings_of(database, tmp_path)):

            async def all_have_their_place() -> bool:
                query = (
                    "SELECT count(*) FROM mailqueue.email_queue AS q, mailqueue.limits AS m"
                    " JOIN mailqueue.sender_accounts AS a ON a.id = m.sender_account_id"
                    " WHERE q.id = ANY (%s) AND q.status = 'pending' AND a.name = 'sendgrid'"
                    " AND m.blocked_reason = 'limited'"
                    " AND m.blocked_until > clock_timestamp() + interval '50 min'"
                )
                put_back = await make.scalar(conn, query, list(many))
                return put_back == 40 and await finished(conn, doubtful) == "held"

            await until(all_have_their_place)

        assert len(sendgrid.requests) == 1
        why = await said_of(conn, many[0], "sender account sendgrid waits until")
        assert "its provider limits it: HTTP 429" in why
        spent = "SELECT max(attempts) FROM mailqueue.email_queue WHERE id = ANY (%s)"
        assert await make.scalar(conn, spent, list(many)) == 0
