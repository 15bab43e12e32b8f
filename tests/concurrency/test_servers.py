"""Servers that hang, refuse or recover: only their own mail waits, none is lost or spent."""

import asyncio
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.embedded.ports import free_port
from mailqueue.senders import accounts
from mailqueue.senders.model import NewSender, Tls
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import create_master_key
from tests import make
from tests.concurrency.delayed_server import withholding
from tests.concurrency.running import (
    account_at,
    enqueue,
    messages,
    pids,
    session,
    statuses,
    until,
    until_nothing_is_queued,
    workers,
)
from tests.smtp.client.scripted import SILENT, USUAL_EHLO, ScriptedServer, scripted

pytestmark = pytest.mark.anyio
MAILS = 40
SILENT_VERBS = ["EHLO", "."]


async def test_no_transaction_is_open_while_a_server_keeps_its_answer_back(
    durable: DatabaseSettings,
) -> None:
    """NoIoInTx."""
    async with withholding() as server, session(durable) as conn:
        await make.sender_account(conn, smtp_port=server.port)
        await make.queued_emails(conn, 3)
        async with workers(durable):

            async def handed_over() -> bool:
                return server.taken > 0

            await until(handed_over)
            seen = set()
            for _ in range(20):
                seen |= set(
                    await make.rows(
                        conn,
                        "SELECT application_name, state FROM pg_stat_activity"
                        " WHERE datname = current_database()"
                        " AND application_name ^@ 'mailqueue/' AND state NOT IN ('idle', 'active')",
                    )
                )
                await asyncio.sleep(0.02)
            assert server.taken > 0
            assert seen == set()
            server.release.set()
            assert await until_nothing_is_queued(conn) == {"sent": 3}


@pytest.mark.parametrize("verb", SILENT_VERBS)
async def test_a_server_that_hangs_does_not_delay_other_mail(
    durable: DatabaseSettings, verb: str
) -> None:
    """The hanging account has more mail than one claim takes and than may be in flight."""
    async with (
        scripted({"dot" if verb == "." else verb: [SILENT] * 50}) as hanging,
        scripted() as other,
        session(durable) as conn,
    ):
        await account_at(conn, hanging, name="hanging")
        project = await make.project(conn, "other")
        await account_at(conn, other, project_id=project)
        await enqueue(conn, 4 * MAILS)
        async with workers(durable, in_flight=8, batch=MAILS) as command:

            async def hangs() -> bool:
                return hanging.connections > 0

            await until(hangs)
            await make.queued_emails(conn, MAILS, project_id=project, project=None)
            await messages(other, MAILS)

            command.process.kill()  # its hanging mail is not what this is about
            await command.ended()
        assert hanging.messages == []


async def test_a_server_that_refuses_connections_costs_no_attempt(
    durable: DatabaseSettings,
) -> None:
    """Mail waits for its server with that reason, and is sent once it is back."""
    port = free_port()
    async with session(durable) as conn:
        account = await make.sender_account(conn, name="main", smtp_port=port)
        await enqueue(conn, 4 * MAILS)
        async with workers(durable, batch=4 * MAILS) as command:

            async def rests() -> bool:
                failures = "SELECT failures FROM mailqueue.limits WHERE sender_account_id = %s"
                return bool(await make.scalar(conn, failures, account) >= 2)

            await until(rests)

            async def all_are_back() -> bool:
                return await statuses(conn) == {"pending": 4 * MAILS}

            await until(all_are_back)
            assert await make.rows(
                conn, "SELECT DISTINCT attempts, unknowns FROM mailqueue.email_queue"
            ) == [(0, 0)]

            async def says_why() -> bool:
                why = "SELECT mailqueue.why(id) FROM mailqueue.email_queue LIMIT 1"
                said = await make.scalar(conn, why)
                return "main waits until" in said and "cannot be reached" in said

            await until(says_why)
            actions = "SELECT action FROM mailqueue.audit_events"
            assert await make.rows(conn, actions) == [("sender.unreachable",)]

            server = ScriptedServer()
            listener = await asyncio.start_server(server.serve, "127.0.0.1", port)
            assert await until_nothing_is_queued(conn) == {"sent": 4 * MAILS}
            assert len(server.messages) == 4 * MAILS
            assert await command.stopped() == 0
            listener.close()


async def test_a_server_that_refuses_the_password_suspends_the_account(
    durable: DatabaseSettings, tmp_path: Path
) -> None:
    """Mail that names another account is still sent; the account waits for an operator."""
    refusal = [b"535 5.7.8 wrong password\r\n"] * 50
    async with (
        scripted(ehlo=(*USUAL_EHLO, "AUTH PLAIN"), AUTH=refusal) as server,
        session(durable) as conn,
        workers(durable, data=tmp_path) as command,
    ):
        await accounts.add(
            conn,
            NewSender(
                name="main",
                host="127.0.0.1",
                port=server.port,
                tls=Tls.NONE,
                username="ann",
                password=Secret("guess"),
                is_private_ok=True,
            ),
            project="default",
            master=create_master_key(tmp_path),
        )
        await pids(conn, 1)
        email = await make.queued_email(conn)

        async def suspended() -> bool:
            status = "SELECT status FROM mailqueue.sender_accounts"
            return bool(await make.scalar(conn, status) == "suspended")

        await until(suspended)

        async def is_back() -> bool:
            return await make.status_of(conn, email) == "pending"

        await until(is_back)

        async def says_why() -> bool:
            return "suspended" in await make.scalar(conn, "SELECT mailqueue.why(%s)", email)

        await until(says_why)
        audit = await make.rows(conn, "SELECT action, subject FROM mailqueue.audit_events")
        assert ("sender.suspended", "sender main") in audit
        tried = server.verbs.count("AUTH")
        assert tried <= 4  # one for each connection, and never again

        server.answers["AUTH"] = [b"235 2.7.0 ok\r\n"] * 50
        await conn.execute("UPDATE mailqueue.sender_accounts SET status = 'active'")
        assert await until_nothing_is_queued(conn) == {"sent": 1}
        assert await command.stopped() == 0


@pytest.mark.parametrize("verb", ["MAIL", "."])
async def test_many_servers_that_hang_do_not_delay_other_mail(
    durable: DatabaseSettings, verb: str
) -> None:
    """Ten accounts, each of its own project, fewer than half the slots."""
    silent = {"dot" if verb == "." else verb: [SILENT] * 200}
    async with scripted(silent) as hanging, scripted() as other, session(durable) as conn:
        for number in range(10):
            project = await make.project(conn, f"hanging-{number}")
            await account_at(conn, hanging, project_id=project)
            await make.queued_emails(conn, 5, project_id=project, project=None)
        project = await make.project(conn, "other")
        await account_at(conn, other, project_id=project)
        async with workers(durable, in_flight=32, batch=MAILS) as command:

            async def hang() -> bool:
                return hanging.connections >= 10

            await until(hang)
            await make.queued_emails(conn, 4 * MAILS, project_id=project, project=None)
            await messages(other, 4 * MAILS)

            command.process.kill()  # its hanging mail is not what this is about
            await command.ended()
        assert hanging.messages == []
