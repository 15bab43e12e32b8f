"""Ten of fifty servers hang, at any point of the conversation: the other forty get all mail."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from psycopg.types.json import Jsonb

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.mail.send.concurrency import ASIDE_FACTOR
from mailqueue.senders import accounts
from mailqueue.senders.model import NewSender, Tls
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import create_master_key
from tests import make
from tests.concurrency.running import session, until, workers
from tests.needs import SOAK
from tests.smtp.client.scripted import SILENT, USUAL_EHLO, Answer, ScriptedServer, scripted

pytestmark = pytest.mark.anyio
HANGING, OTHERS = 10, 40
IN_FLIGHT = 32
AT_ONCE: list[Answer] = [SILENT] * 500
SOON: list[Answer] = [b"250 2.0.0 queued\r\n", *AT_ONCE]
SHORT: list[tuple[str, list[Answer], int]] = [
    ("EHLO", AT_ONCE, 5),
    (".", AT_ONCE, 5),
    (".", SOON, 5),
]
LONG: list[tuple[str, list[Answer], int]] = [
    (verb, AT_ONCE, 200) for verb in ("CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", ".")
]
OPEN = "SELECT coalesce(max(cardinality(email_ids)), 0) FROM mailqueue.send_intents"


@asynccontextmanager
async def servers(count: int, **answers: Sequence[Answer]) -> AsyncIterator[list[ScriptedServer]]:
    async with AsyncExitStack() as stack:
        ehlo = (*USUAL_EHLO, "AUTH PLAIN")
        yield [await stack.enter_async_context(scripted(answers, ehlo=ehlo)) for _ in range(count)]


async def accounts_at(conn: Conn, found: Sequence[ScriptedServer], kind: str, data: Path) -> None:
    """Create for each server a project with an account that logs in there."""
    master = create_master_key(data)
    for number, server in enumerate(found):
        name = f"{kind}-{number}"
        await make.project(conn, name)
        await accounts.add(
            conn,
            NewSender(
                name=name,
                email="sender@example.com",
                host="127.0.0.1",
                port=server.port,
                tls=Tls.NONE,
                username="ann",
                password=Secret("secret"),
                is_private_ok=True,
            ),
            project=name,
            master=master,
        )


async def enqueue(conn: Conn, projects: int, kind: str, mails: int) -> None:
    batch = [
        {"recipient": f"p{n}@example.com", "subject": "Hello", "text": "Hello"}
        for n in range(mails)
    ]
    for number in range(projects):
        asked = (f"{kind}-{number}", Jsonb(batch))
        await conn.execute("SELECT count(*) FROM mailqueue.enqueue_batch(%s, %s)", asked)


@pytest.mark.parametrize(
    ("verb", "answers", "mails"),
    [*SHORT, *(pytest.param(*one, marks=getattr(pytest.mark, SOAK)) for one in LONG)],
    ids=[f"{verb}-{len(answers) - 500}-{mails}" for verb, answers, mails in (*SHORT, *LONG)],
)
async def test_ten_servers_that_hang_leave_forty_others_all_their_mail(
    durable: DatabaseSettings, tmp_path: Path, verb: str, answers: list[Answer], mails: int
) -> None:
    """Window: besides active mail, at most as much again may be at servers that do not reply."""
    async with (
        servers(HANGING, **{"dot" if verb == "." else verb: answers}) as hanging,
        servers(OTHERS) as others,
        session(durable) as conn,
    ):
        await accounts_at(conn, hanging, "hanging", tmp_path)
        await accounts_at(conn, others, "other", tmp_path)
        await enqueue(conn, HANGING, "hanging", 20 * mails)
        async with workers(durable, in_flight=IN_FLIGHT, batch=200, data=tmp_path) as command:

            async def all_hang() -> bool:
                usual = len(answers) - len(AT_ONCE)
                said = [len(one.answers["." if verb == "." else verb]) for one in hanging]
                return all(left < len(answers) - usual for left in said)

            await until(all_hang)
            await enqueue(conn, OTHERS, "other", mails)

            async def all_have_theirs() -> bool:
                return all(len(one.messages) >= mails for one in others)

            await until(all_have_theirs, seconds=30 + OTHERS * mails / 50)
            assert [len(one.messages) for one in others] == [mails] * OTHERS
            assert await make.scalar(conn, OPEN) <= (1 + ASIDE_FACTOR) * IN_FLIGHT

            command.process.kill()  # its hanging mail is not what this is about
            await command.ended()
        assert max(len(one.messages) for one in hanging) <= len(answers) - len(AT_ONCE)


async def test_an_account_that_was_changed_need_not_wait_for_its_old_server(
    durable: DatabaseSettings,
) -> None:
    """The operator names another server while mail hangs at the first one."""
    async with (
        scripted(dot=AT_ONCE) as wrong,
        scripted() as right,
        session(durable) as conn,
    ):
        account = await make.sender_account(conn, smtp_port=wrong.port)
        await make.queued_emails(conn, 2)
        async with workers(durable, in_flight=IN_FLIGHT) as command:

            async def both_hang() -> bool:
                return wrong.verbs.count(".") == 2

            await until(both_hang)
            await conn.execute(
                "UPDATE mailqueue.sender_accounts SET smtp_port = %s WHERE id = %s",
                (right.port, account),
            )
            await conn.execute("SELECT mailqueue.sender_answered(%s)", (account,))
            await make.queued_emails(conn, 3)

            async def right_has_the_rest() -> bool:
                return len(right.messages) == 3

            await until(right_has_the_rest)
            command.process.kill()
            await command.ended()
