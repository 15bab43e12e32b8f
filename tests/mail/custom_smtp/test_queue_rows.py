"""Rows of mail with a custom SMTP server: claims, releases, and invalid rows."""

import asyncio
import json
from typing import Any

import pytest

from mailqueue.core.outcome import Outcome
from mailqueue.db.pool import connect
from mailqueue.mail.custom_smtp import handler
from mailqueue.mail.custom_smtp.handler import Attempted, ClaimedServer, CustomSmtpHandler
from mailqueue.mail.send import correlated
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault import vault
from mailqueue.vault.sealing import SealedCell
from tests import make
from tests.logged import log_of
from tests.mail.custom_smtp.queueing import KEY, queued
from tests.mail.custom_smtp.sending import LOGIN_EHLO
from tests.smtp.client.scripted import SILENT, scripted

pytestmark = pytest.mark.anyio
NEAR = "UPDATE mailqueue.custom_smtp_servers SET"


async def test_workers_at_the_same_time_send_each_mail_once(database: DatabaseSettings) -> None:
    async with queued(database) as custom:
        for number in range(6):
            await custom.send(to=[f"person{number}@example.com"])

        await asyncio.gather(*(custom.turn() for _ in range(3)))

        assert len(custom.server.messages) == 6
        assert len({message.recipients for message in custom.server.messages}) == 6
        assert await custom.kept() == 0
        assert await custom.books() == (6, 0)


async def test_what_was_sent_is_recorded_although_the_claim_was_lost(
    database: DatabaseSettings,
) -> None:
    class Lost(CustomSmtpHandler):
        async def handle(self, row: ClaimedServer) -> Outcome | Attempted:
            done = await super().handle(row)
            async with connect(database) as conn:
                await conn.execute(
                    "SELECT mailqueue.return_custom_smtp_servers(worker_id)"
                    " FROM mailqueue.custom_smtp_servers"
                )
            return done

    async with queued(database) as custom:
        email = await custom.send()

        assert await custom.turn(of=Lost) == 1

        assert (await custom.shown(email))["status"] == "sent"
        assert len(custom.server.messages) == 1
        assert await custom.kept() == 0
        assert await custom.books() == (1, 0)


async def test_mail_with_correlation_ids_has_log_lines(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(correlated, monkeypatch)
    async with queued(database) as custom:
        email = await custom.send(custom_data={"correlation_id": "order-81"})
        await custom.send(to=["bob@example.com"], custom_data={"order": "82"})

        assert await custom.turn() == 2

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [(line["event"], line["email_id"], line["correlation_id"]) for line in lines] == [
        ("email.claimed", email, "order-81"),
        ("email.outcome", email, "order-81"),
    ]


async def test_released_mail_goes_on_although_many_are_held(database: DatabaseSettings) -> None:
    async with queued(database) as custom:
        mails = [await custom.send(to=[f"person{number}@example.com"]) for number in range(5)]
        await custom.do("UPDATE mailqueue.email_queue SET status = 'held'")
        last = await custom.send()

        assert await custom.turn() + await custom.turn() == 1
        assert (await custom.shown(last))["status"] == "sent"
        held = "SELECT count(*) FROM mailqueue.custom_smtp_servers WHERE status = 'held'"
        assert await custom.value(held) == 5
        await custom.api.post(f"/v1/emails/{mails[3]}/release")
        assert await custom.turn() == 1
        assert (await custom.shown(mails[3]))["status"] == "sent"
        assert await custom.kept() == 4


async def test_cancelled_while_it_is_sent_it_is_not_sent_again(database: DatabaseSettings) -> None:
    async with queued(database, RCPT=[b"451 4.3.0 later\r\n"]) as custom:
        email = await custom.send()

        class Cancelling(CustomSmtpHandler):
            async def handle(self, row: ClaimedServer) -> Outcome | Attempted:
                done = await super().handle(row)
                await custom.api.post(f"/v1/emails/{email}/cancel")
                return done

        await custom.turn(of=Cancelling)

        assert (await custom.shown(email))["status"] == "cancelled"
        assert await custom.kept() == 0
        assert await custom.books() == (0, 0)


@pytest.mark.parametrize(
    ("change", "status", "is_alone"),
    [
        ("sealed = ''", "pending", False),
        ("sealed = decode(repeat('00', 64), 'hex')", "pending", False),
        ("sealed = sealed || '\\x00'", "pending", False),
        ("run_at = '-infinity'", "sent", False),
        ("run_at = 'infinity'", "pending", False),
        ("expires_at = 'infinity'", "sent", False),
        ("expires_at = '-infinity'", "expired", False),
        ("attempts = 32767, max_attempts = -32768", "sent", False),
        ("attempts = -32768, priority = -32768", "sent", False),
        ("crashes = 32767, priority = 32767", "sent", True),
        ("created_at = 'infinity', last_error = repeat('x', 100000)", "sent", False),
        ("status = 'held'", "sent", False),
        ("status = 'failed', finished_at = now(), last_error = 'no'", "failed", False),
        ("email_id = gen_random_uuid()", "pending", False),
    ],
)
async def test_a_row_of_nonsense_is_its_own_outcome(
    database: DatabaseSettings, change: str, status: str, *, is_alone: bool
) -> None:
    async with queued(database) as custom:
        odd = await custom.send(to=["bob@example.com"])
        await custom.do(f"{NEAR} {change}")
        other = await custom.send()

        await custom.turn()
        if is_alone:
            await custom.turn(is_alone=True)

        assert (await custom.shown(odd))["status"] == status
        assert (await custom.shown(other))["status"] == "sent"
        await custom.books()


@pytest.mark.parametrize("document", [b"", b"{}", b"[]", b'{"host": 1}', b"\xff"])
async def test_what_is_sealed_and_no_server_fails_its_mail(
    database: DatabaseSettings, document: bytes
) -> None:
    async with queued(database) as custom:
        odd = await custom.send()
        async with connect(database) as conn:
            [(row, project)] = await make.rows(
                conn, "SELECT id, project_id FROM mailqueue.custom_smtp_servers"
            )
            place = SealedCell(project, "custom_smtp_servers", "sealed", row)
            sealed = await vault.seal(conn, KEY, place=place, plaintext=document)
            await conn.execute(f"{NEAR} sealed = %s", (sealed,))

        await custom.turn()

        shown = await custom.shown(odd)
        assert shown["status"] == "failed"
        assert "its server is stored in an unknown form" in str(shown)
        assert await custom.kept() == 0
        assert await custom.books() == (0, 0)


@pytest.mark.parametrize(
    ("answers", "status"),
    [({"CONNECT": [SILENT]}, "pending"), ({"dot": [SILENT]}, "held")],
)
async def test_a_silent_server_delays_its_own_mail_alone(
    database: DatabaseSettings,
    monkeypatch: pytest.MonkeyPatch,
    answers: dict[str, Any],
    status: str,
) -> None:
    monkeypatch.setattr(handler, "DEADLINE_SECONDS", 2.0)
    async with queued(database) as custom, scripted(ehlo=LOGIN_EHLO, **answers) as silent:
        other = await custom.send()
        port, custom.server.port = custom.server.port, silent.port
        slow = await custom.send(to=["bob@example.com"])
        custom.server.port = port

        await custom.turn()

        assert (await custom.shown(slow))["status"] == status
        assert (await custom.shown(other))["status"] == "sent"
        assert await custom.kept() == (status == "pending")
        assert await custom.books() == (1 if status == "pending" else 2, 0)


async def test_mail_whose_server_is_gone_is_not_tried_again(database: DatabaseSettings) -> None:
    class Gone(CustomSmtpHandler):
        async def handle(self, row: ClaimedServer) -> Outcome | Attempted:
            done = await super().handle(row)
            async with connect(database) as conn:
                await conn.execute(
                    "DELETE FROM mailqueue.custom_smtp_servers WHERE id = %s", (row.id,)
                )
            return done

    async with queued(database, RCPT=[b"451 4.3.0 later\r\n"]) as custom:
        email = await custom.send()
        await custom.turn(of=Gone)
        other = await custom.send(to=["bob@example.com"])
        await custom.turn()

        assert (await custom.shown(email))["status"] == "failed"
        assert (await custom.shown(other))["status"] == "sent"
        assert await custom.books() == (1, 0)
