"""Mail that is sent during the request: once, recorded like other mail, no secret stored."""

import asyncio
from typing import Any

import pytest

from mailqueue.core.errors import Conflict, InvalidField, LimitReached
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import until
from tests.conftest import Server
from tests.mail.custom_smtp.sending import PASSWORD, USER, custom_smtp, mail
from tests.rules.logins import login
from tests.smtp.client.scripted import SILENT

pytestmark = pytest.mark.anyio


async def test_mail_is_sent_at_once_and_recorded_like_any(database: DatabaseSettings) -> None:
    async with custom_smtp(database) as (custom, server):
        done = await custom.send(mail("Ann <ann@example.com>", cc=["bob@example.com"]))

        assert (done.status, await custom.status(done)) == ("sent", "sent")
        [message] = server.messages
        assert message.sender == b"MAIL FROM:<shop@example.com>"
        assert len(message.recipients) == 2
        assert await custom.logs() == [("sent", "250", None)]
        assert await custom.counts() == (2, 0)
        assert await custom.is_sound()


async def test_the_role_of_the_api_is_enough(
    server: Server, database: DatabaseSettings, fresh_db: str
) -> None:
    role = server.superuser_url(fresh_db.rpartition("/")[2])
    async with custom_smtp(database, dot=[b"250 ok\r\n", b"451 later\r\n"]) as (custom, _):
        custom.lend = lambda: login(role, "mailqueue_api")
        sent = await custom.send(mail(cc=["bob@example.com"]))
        failed = await custom.send(mail())

        assert (sent.status, failed.status) == ("sent", "failed")
        assert await custom.is_sound()


async def test_nothing_secret_is_kept_whatever_the_server_says(
    database: DatabaseSettings, capfd: pytest.CaptureFixture[str]
) -> None:
    echo = f"550 5.7.1 {USER} with {PASSWORD} may not\r\n".encode()
    async with custom_smtp(
        database, MAIL=[echo], AUTH=[b"235 ok\r\n", f"535 {USER}\r\n".encode()]
    ) as (
        custom,
        _,
    ):
        refused = await custom.send(mail())
        elsewhere = await custom.send(mail())
        kept = await custom.everything()

        assert {refused.status, elsewhere.status} == {"failed"}
        shown = f"{refused} {elsewhere} {kept} {capfd.readouterr()}"
        assert "Hi Ann" in kept
        for secret in (USER, PASSWORD):
            assert secret not in shown
        assert await custom.is_sound()


async def test_what_was_said_is_kept_with_the_attempt(database: DatabaseSettings) -> None:
    async with custom_smtp(database, AUTH=[b"535 5.7.8 no\r\n"], dot=[b"554 5.6.0 no\r\n"]) as (
        custom,
        _,
    ):
        for _ in range(2):
            await custom.send(mail())
        async with connect(database) as conn:
            query = "SELECT conversation FROM mailqueue.send_logs ORDER BY sent_at"
            login, refused = [found["lines"] for (found,) in await make.rows(conn, query)]

    texts = [line["text"] for line in login]
    assert texts[-3:] == ["AUTH PLAIN ***", "535 5.7.8 no", "535 5.7.8 no"]
    assert [line["text"] for line in refused][-2:] == [".", "554 5.6.0 no"]


REFUSALS: list[tuple[dict[str, list[bytes]], str]] = [
    ({"RCPT": [b"550 5.1.1 no such user\r\n"]}, "bounced"),
    ({"RCPT": [b"451 4.3.0 later\r\n"]}, "failed"),
    ({"dot": [b"554 5.6.0 no\r\n"]}, "rejected"),
    ({"AUTH": [b"535 5.7.8 no\r\n"]}, "failed"),
    ({"CONNECT": [b"421 4.3.2 busy\r\n"]}, "failed"),
]


async def test_what_was_refused_is_not_tried_again(database: DatabaseSettings) -> None:
    for number, (answers, _) in enumerate(REFUSALS):
        async with custom_smtp(database, **answers) as (custom, server):
            done = await custom.send(mail(f"n{number}@example.com"))

            assert (done.status, await custom.status(done)) == ("failed", "failed"), answers
            assert server.messages == []
            assert await custom.counts() == (0, 0)
            assert await custom.is_sound()

    async with connect(database) as conn:
        logged = await make.rows(conn, "SELECT status FROM mailqueue.send_logs ORDER BY id")
        assert [row[0] for row in logged] == [log for _, log in REFUSALS]


async def test_of_several_each_recipient_has_an_end(database: DatabaseSettings) -> None:
    answers = [b"250 ok\r\n", b"451 4.3.0 later\r\n"]
    async with custom_smtp(database, RCPT=answers) as (custom, _):
        done = await custom.send(mail(cc=["bob@example.com"]))

        assert done.status == "sent"
        query = "SELECT address, status FROM mailqueue.email_recipients ORDER BY position"
        assert await make.rows(custom.conn, query) == [
            ("ann@example.com", "sent"),
            ("bob@example.com", "failed"),
        ]
        assert await custom.counts() == (1, 0)
        assert await custom.is_sound()


@pytest.mark.parametrize("lost", [SILENT, b"<close>"], ids=["silent", "closed"])
async def test_mail_with_an_unknown_outcome_is_held(
    database: DatabaseSettings, lost: bytes
) -> None:
    async with custom_smtp(database, dot=[lost]) as (custom, _):
        done = await custom.send(mail(), deadline_s=5.0)

        assert (done.status, await custom.status(done)) == ("held", "held")
        why = await make.scalar(custom.conn, "SELECT last_error FROM mailqueue.email_queue")
        assert why.startswith("outcome_unknown: ")
        assert [row[0] for row in await custom.logs()] == ["unknown"]
        assert await custom.counts() == (1, 0)
        assert await custom.is_sound()


async def test_a_call_that_dies_in_the_middle_leaves_a_mail_of_unknown_fate(
    database: DatabaseSettings,
) -> None:
    async with custom_smtp(database, dot=[SILENT]) as (custom, server):
        sending = asyncio.create_task(custom.send(mail()))

        async def has_it_all() -> bool:
            return "." in server.verbs

        await until(has_it_all)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        worker = await make.scalar(custom.conn, "SELECT max(id) FROM mailqueue.workers")
        assert await make.scalar(custom.conn, "SELECT status FROM mailqueue.emails") == "assigned"
        await make.silent(custom.conn, worker)
        await custom.conn.execute("SELECT mailqueue.rescue_emails(interval '30 s')")

        rows = await make.rows(custom.conn, "SELECT status, last_error FROM mailqueue.email_queue")
        assert rows == [("held", "outcome_unknown: the worker was lost while handing it over")]
        assert await custom.counts() == (1, 0)
        assert await custom.is_sound()


async def test_who_is_suppressed_gets_nothing(database: DatabaseSettings) -> None:
    async with custom_smtp(database) as (custom, server):
        await custom.conn.execute(
            "INSERT INTO mailqueue.suppressions (project_id, address, reason)"
            " VALUES (%s, 'ann@example.com', 'complaint')",
            [await make.project_named(custom.conn)],
        )
        alone = await custom.send(mail())
        beside = await custom.send(mail("bob@example.com", cc=["ann@example.com"]))

        assert (alone.status, beside.status) == ("suppressed", "sent")
        [message] = server.messages
        assert message.recipients == (b"RCPT TO:<bob@example.com>",)
        assert await custom.is_sound()


async def test_a_key_is_good_for_one_sending(database: DatabaseSettings) -> None:
    async with custom_smtp(database) as (custom, server):
        first = await custom.send(mail(idempotency_key="k"))
        again = await custom.send(mail(idempotency_key="k"))

        assert (again.id, again.status) == (first.id, "duplicate")
        assert len(server.messages) == 1


async def test_what_the_project_does_not_allow_leaves_nothing_behind(
    database: DatabaseSettings,
) -> None:
    async with custom_smtp(database) as (custom, server):
        await custom.conn.execute("UPDATE mailqueue.projects SET daily_limit = 1")
        assert (await custom.send(mail())).status == "sent"
        with pytest.raises(LimitReached, match="daily_limit"):
            await custom.send(mail())

        assert len(server.messages) == 1
        assert await make.scalar(custom.conn, "SELECT count(*) FROM mailqueue.emails") == 1
        assert await custom.is_sound()
        await custom.conn.execute("UPDATE mailqueue.projects SET is_dkim_required = true")
        with pytest.raises(Conflict, match="signing is required"):
            await custom.send(mail())

        assert len(server.messages) == 1
        assert await custom.is_sound()


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"from_email": None}, "from_email"),
    ({"sender": "relay"}, "sender"),
    ({"run_at": "2030-01-01 00:00Z"}, "run_at"),
    ({"delivery": "resend"}, "delivery"),
    ({"headers": {"X-Odd": "a\r\nBcc: b"}}, "headers"),
    ({"tags": ["\0"]}, "tags"),
]


async def test_it_is_accepted_by_the_rules_of_all_mail(database: DatabaseSettings) -> None:
    async with custom_smtp(database) as (custom, server):
        for changed, field in FAULTS:
            with pytest.raises(InvalidField) as caught:
                await custom.send(mail(**changed))
            assert caught.value.field == field

        assert server.connections == 0
        assert await make.scalar(custom.conn, "SELECT count(*) FROM mailqueue.emails") == 0
        assert await custom.is_sound()


async def test_an_inside_server_is_not_spoken_to(database: DatabaseSettings) -> None:
    async with custom_smtp(database) as (custom, server):
        for host in ("127.0.0.1", "localhost"):
            done = await custom.send(mail(), host=host, allowed=())
            assert done.status == "failed"
            assert done.reason is not None
            assert "public" in done.reason

        assert server.connections == 0


async def test_nothing_is_sent_from_a_database_that_has_gone_back(
    database: DatabaseSettings,
) -> None:
    async with custom_smtp(database) as (custom, server):
        await custom.send(mail())
        await custom.conn.execute("UPDATE mailqueue.server_identity SET gone_back_at = now()")

        with pytest.raises(Conflict, match=r"database was restored.*mailqueue restored"):
            await custom.send(mail())

        assert len(server.messages) == 1
