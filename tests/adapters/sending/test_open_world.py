"""OpenWorld: a worker loses no mail when a provider answers in an undocumented way."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import CLOSES, fake, says
from tests.adapters.sending.providers import RESEND, SENDGRID
from tests.adapters.sending.test_worker import account, finished, said_of, settings_of, worker
from tests.concurrency.running import session, until
from tests.mail.claim.steps import due_now

pytestmark = pytest.mark.anyio

BLOCKED = (
    "SELECT m.blocked_reason FROM mailqueue.limits AS m"
    " JOIN mailqueue.sender_accounts AS a ON a.id = m.sender_account_id WHERE a.name = %s"
)
ATTEMPTS = "SELECT attempts FROM mailqueue.email_queue WHERE id = %s"
STATUS = "SELECT status FROM mailqueue.sender_accounts WHERE name = %s"
WORDS = (
    "Domain mg.example.com is not allowed to send: recipient limit exceeded,"
    " try again after {at:%a, %d %b %Y %H:%M:%S} UTC"
)


async def test_a_providers_quota_rests_the_account_until_the_time_it_named_and_costs_no_mail(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    words = WORDS.format(at=datetime.now(UTC) + timedelta(hours=3))
    async with fake([says(420, {"message": words})]) as mailgun, session(database) as conn:
        await account(conn, "mailgun", mailgun)
        many = await make.queued_emails(conn, 20)
        async with worker(settings_of(database, tmp_path)):

            async def is_limited() -> bool:
                query = "SELECT count(*) FROM mailqueue.email_queue WHERE status = 'pending'"
                waiting = await make.scalar(conn, query)
                reason = await make.scalar(conn, BLOCKED, "mailgun")
                return bool(waiting == 20 and reason == "limited")

            await until(is_limited)

        assert len(mailgun.requests) == 1
        spent = "SELECT max(attempts) FROM mailqueue.email_queue"
        assert await make.scalar(conn, spent) == 0
        assert await make.scalar(conn, STATUS, "mailgun") == "active"
        left = (
            "SELECT extract(epoch FROM max(blocked_until) - clock_timestamp()) / 3600"
            " FROM mailqueue.limits"
        )
        assert 2.9 < await make.scalar(conn, left) < 3.1
        why = await said_of(conn, many[0], "sender account mailgun waits until")
        assert "its provider limits it: Domain mg.example.com is not allowed to send" in why
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.bounce_list") == 0


async def test_an_unheard_of_refusal_of_one_mail_spends_its_attempt_and_stops_nothing(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    odd = says(418, {"message": "teapot"})
    async with fake([odd, SENDGRID.accepts]) as sendgrid, session(database) as conn:
        await account(conn, "sendgrid", sendgrid)
        alone = await make.queued_email(conn)
        async with worker(settings_of(database, tmp_path)):

            async def it_waits() -> bool:
                return await make.scalar(conn, ATTEMPTS, alone) == 1 and (
                    await finished(conn, alone) == "pending"
                )

            await until(it_waits)
            others = await make.queued_emails(conn, 3)

            async def others_went() -> bool:
                return [await finished(conn, one) for one in others] == ["sent"] * 3

            await until(others_went)

        assert await finished(conn, alone) == "pending"
        assert "teapot" in await make.scalar(conn, "SELECT mailqueue.why(%s)", alone)
        assert await make.scalar(conn, STATUS, "sendgrid") == "active"
        assert await make.scalar(conn, BLOCKED, "sendgrid") is None


async def test_an_unheard_of_refusal_of_all_mail_rests_the_account_before_it_costs_any(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    """Two mails with nothing in common are enough."""
    async with fake([says(418, {"message": "teapot"})]) as sendgrid, session(database) as conn:
        await account(conn, "sendgrid", sendgrid)
        for number in range(30):
            await make.queued_email(
                conn, recipient_email=f"n{number}@example.com", text_body=f"Hello {number}"
            )
        async with worker(settings_of(database, tmp_path)):

            async def it_rests() -> bool:
                return bool(await make.scalar(conn, BLOCKED, "sendgrid") == "circuit")

            await until(it_rests)

        counts = "SELECT status, max(attempts) FROM mailqueue.email_queue GROUP BY status"
        assert await make.rows(conn, counts) == [("pending", 1)]
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 30
        assert await make.scalar(conn, STATUS, "sendgrid") == "active"


async def test_a_success_that_is_not_understood_is_not_sent_again_by_the_next_provider(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    """Mail with the policy `hold` is not sent twice."""
    async with (
        fake([says(200, {"hello": "world"})]) as resend,
        fake([SENDGRID.accepts]) as sendgrid,
        session(database) as conn,
    ):
        await account(conn, "resend", resend)
        await account(conn, "sendgrid", sendgrid)
        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET priority = 0 WHERE name = 'resend'"
        )
        kept = await make.queued_email(conn, delivery="hold")
        await conn.execute("UPDATE mailqueue.sender_accounts SET max_connections = 1")
        later = await make.queued_email(conn, recipient_email="b@example.com")
        async with worker(settings_of(database, tmp_path)):

            async def it_is_known() -> bool:
                is_stopped = await make.scalar(conn, STATUS, "resend") == "suspended"
                return is_stopped and await finished(conn, kept) == "held"

            await until(it_is_known)
            other = await make.queued_email(conn, recipient_email="c@example.com")

            async def the_others_went() -> bool:
                return [await finished(conn, one) for one in (later, other)] == ["sent"] * 2

            await until(the_others_went)

        assert all(str(kept).encode() not in one.body for one in sendgrid.requests)
        asked = sum(str(later).encode() in one.body for one in resend.requests)
        went = sum(str(later).encode() in one.body for one in sendgrid.requests)
        assert asked + went == 1
        reason = "SELECT status_reason FROM mailqueue.sender_accounts WHERE name = 'resend'"
        assert "an unknown body" in await make.scalar(conn, reason)


async def test_mail_without_an_answer_waits_for_its_account_and_goes_by_no_other(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    """Resend's idempotency key makes a repetition harmless only at Resend."""
    async with (
        fake([CLOSES, CLOSES, RESEND.accepts]) as resend,
        fake([SENDGRID.accepts]) as sendgrid,
        session(database) as conn,
    ):
        await account(conn, "resend", resend)
        await account(conn, "sendgrid", sendgrid)
        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET priority = 0 WHERE name = 'resend'"
        )
        email = await make.queued_email(conn, delivery="resend")
        async with worker(settings_of(database, tmp_path)):
            asked = "SELECT unknowns FROM mailqueue.email_queue WHERE id = %s"

            async def it_is_in_doubt() -> bool:
                return bool(await make.scalar(conn, asked, email) == 1)

            await until(it_is_in_doubt)
            await conn.execute(
                "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE name = 'resend'"
            )
            await due_now(conn)
            other = await make.queued_email(conn, recipient_email="b@example.com")

            async def the_other_went() -> bool:
                return await finished(conn, other) == "sent"

            await until(the_other_went)
            assert await finished(conn, email) == "pending"
            await conn.execute(
                "UPDATE mailqueue.sender_accounts SET status = 'active' WHERE name = 'resend'"
            )

            async def it_went() -> bool:
                return await finished(conn, email) == "sent"

            await until(it_went)

        keys = [one.headers["idempotency-key"] for one in resend.requests]
        assert keys == [keys[0]] * 3
        assert all(str(email).encode() not in one.body for one in sendgrid.requests)
