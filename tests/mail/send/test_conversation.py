"""The conversation of an attempt that was not accepted, from the server to its row."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mailqueue.core.conversation import MAX_BYTES, ConversationRecord, SaidBy, SaidLine, document_of
from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.mail.reads import emails as reads
from mailqueue.mail.send.outcomes import outcome_of
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import session, until
from tests.mail.claim.steps import NO_WORKER, claim, outcome, settle
from tests.mail.claims import attempt
from tests.mail.send.test_worker import courier
from tests.smtp.client.scripted import CLOSE, Answer, scripted

pytestmark = pytest.mark.anyio
HOSTILE = b"550 5.1.1 \x07\xff{\"'\\}</pre><script>alert(1)</script>\r\n"
SAID = ConversationRecord("smtp", [SaidLine(3, SaidBy.SERVER, '451 {"later"} \\ <b>')], "x")


async def conversations(conn: Conn, email: UUID) -> list[dict[str, Any] | None]:
    query = "SELECT conversation FROM mailqueue.send_logs WHERE email_id = %s ORDER BY sent_at, id"
    return [found for (found,) in await make.rows(conn, query, email)]


@pytest.mark.parametrize(
    ("answer", "status", "last"),
    [
        pytest.param([b"451 4.3.0 later\r\n"], "deferred", "451 4.3.0 later", id="deferred"),
        pytest.param([HOSTILE], "bounced", None, id="hostile bytes"),
        pytest.param([CLOSE], "unknown", None, id="lost after the message"),
        pytest.param([b"550 " + b"A" * 1_000_000 + b"\r\n"], "unknown", None, id="1 MB of reply"),
    ],
)
async def test_what_was_said_is_a_part_of_the_attempt(
    database: DatabaseSettings,
    tmp_path: Path,
    answer: Sequence[Answer],
    status: str,
    last: str | None,
) -> None:
    ok = b"250 2.0.0 queued\r\n"
    async with scripted(dot=[ok, *answer]) as server, session(database) as conn:
        await make.sender_account(conn, smtp_port=server.port, max_connections=1)
        first = await make.queued_email(conn, delivery="hold")
        async with courier(database, tmp_path):

            async def logged(email: UUID) -> bool:
                return bool(await conversations(conn, email))

            await until(lambda: logged(first))
            other = await make.queued_email(
                conn, recipient_email="bob@example.com", delivery="hold"
            )
            await until(lambda: logged(other))

        assert await conversations(conn, first) == [None]
        project = await make.project_named(conn)
        [found] = (await reads.find(conn, other, project_id=project)).attempts
        assert found.status == status
        conversation = found.conversation
        assert conversation is not None
        assert conversation.protocol == "smtp"
        texts = [line.text for line in conversation.lines]
        assert texts[0] == "220 mx.example.com ESMTP"
        assert "RCPT TO:<bob@example.com>" in texts
        assert "ann@example.com" not in repr(texts)
        assert any(text.startswith("(the message, ") for text in texts)
        assert last is None or texts[-1] == last
        size = "SELECT max(octet_length(conversation::text)) FROM mailqueue.send_logs"
        assert await make.scalar(conn, size) <= MAX_BYTES + 1_024  # with spaces after commas


async def test_an_attempt_that_is_not_recorded_has_no_conversation() -> None:
    away = Rejected(Fault.TRANSIENT, "", "gone", Stage.CONNECT, conversation=SAID)
    later = Rejected(Fault.TRANSIENT, "451", "later", Stage.DATA, conversation=SAID)

    assert outcome_of(attempt("ann@example.com"), away, 3).conversation is None
    assert outcome_of(attempt("ann@example.com"), later, 3).conversation == document_of(SAID)


async def test_outcomes_of_one_commit_keep_their_own(conn: Conn) -> None:
    await make.sender_account(conn)
    for _ in range(3):
        await make.queued_email(conn)
    first, second, third = await claim(conn, await make.worker(conn))
    said = document_of(SAID)

    await settle(conn, [first], Ending.SENT, log=LogStatus.SENT, conversation=said)
    await settle(
        conn,
        [second],
        Ending.RETRY,
        log=LogStatus.DEFERRED,
        wait=timedelta(minutes=1),
        conversation=said,
    )
    await settle(conn, [third], Ending.SENT, log=LogStatus.SENT)

    [partly], [deferred], [accepted] = [
        await conversations(conn, one.id) for one in (first, second, third)
    ]
    assert partly == deferred
    assert partly is not None
    assert partly["lines"][0]["text"] == '451 {"later"} \\ <b>'
    assert accepted is None


async def test_a_conversation_that_the_database_refuses_costs_no_outcome(
    database: DatabaseSettings,
) -> None:
    async with session(database) as conn:
        await make.sender_account(conn)
        for _ in range(2):
            await make.queued_email(conn)
        bad, good = await claim(conn, await make.worker(conn))
        said = {bad.id: "{not json", good.id: document_of(SAID)}
        outcomes = [
            outcome(
                one, Ending.FAILED, log=LogStatus.REJECTED, reason="no", conversation=said[one.id]
            )
            for one in (bad, good)
        ]

        assert (await settle_and_mark(conn, NO_WORKER, settled=outcomes)).moved_on == []

        for one in (bad, good):
            assert await make.status_of(conn, one.id) == "failed"
        assert await conversations(conn, bad.id) == [None]
        [kept] = await conversations(conn, good.id)
        assert kept is not None
