"""A queued mail with a custom SMTP server: stored encrypted, sent by it only, then deleted."""

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.rotation import rotate
from tests import make
from tests.api.sending.test_override import everything
from tests.api.support.calling import HELLO, calling, error_of
from tests.mail.claim.steps import claim
from tests.mail.custom_smtp.queueing import KEY, queued
from tests.mail.custom_smtp.sending import PASSWORD, USER

pytestmark = pytest.mark.anyio


async def test_a_worker_sends_it_by_that_server_and_forgets_it(
    database: DatabaseSettings, capfd: pytest.CaptureFixture[str]
) -> None:
    async with queued(database) as custom:
        email = await custom.send(cc=["bob@example.com"])
        waiting = await everything(custom.api)
        why = (await custom.shown(email))["why"]

        assert await custom.turn() == 1
        assert await custom.turn() == 0

        [message] = custom.server.messages
        assert message.sender == b"MAIL FROM:<hello@example.org>"
        assert len(message.recipients) == 2
        assert (await custom.shown(email))["status"] == "sent"
        assert await custom.kept() == 0
        assert "by the server it was given" in why
        for text in (waiting, await everything(custom.api), str(capfd.readouterr())):
            assert USER not in text
            assert PASSWORD not in text
        books = "SELECT count(*) FROM mailqueue.books WHERE difference <> 0"
        assert await custom.value(books) == 0


async def test_no_account_of_the_project_ever_has_it(database: DatabaseSettings) -> None:
    async with queued(database, RCPT=[b"451 4.3.0 later\r\n"]) as custom:
        email = await custom.send()

        async with connect(database) as conn:
            worker = await make.worker(conn)
            assert await claim(conn, worker) == []
        assert await custom.turn() == 1
        async with connect(database) as conn:
            assert await claim(conn, worker) == []
        shown = await custom.shown(email)
        assert (shown["status"], shown["attempt_count"]) == ("pending", 1)
        assert shown["scheduled_at"] < "9000"
        assert shown["why"].startswith("waits until")
        assert await custom.turn() == 0, "it is not due yet"


async def test_what_was_refused_for_now_is_tried_again_by_the_same_server(
    database: DatabaseSettings,
) -> None:
    async with queued(database, RCPT=[b"451 4.3.0 later\r\n", b"250 ok\r\n"]) as custom:
        email = await custom.send()
        await custom.turn()
        await custom.do("UPDATE mailqueue.custom_smtp_servers SET run_at = now()")

        await custom.turn()

        assert (await custom.shown(email))["status"] == "sent"
        assert [one["status"] for one in (await custom.shown(email))["attempts"]] == [
            "deferred",
            "sent",
        ]
        assert await custom.kept() == 0


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ({"RCPT": [b"550 5.1.1 no such user\r\n"]}, "failed"),
        ({"AUTH": [b"535 5.7.8 no\r\n"]}, "failed"),
    ],
)
async def test_a_refusal_for_good_ends_it(
    database: DatabaseSettings, answers: dict[str, list[bytes]], status: str
) -> None:
    async with queued(database, **answers) as custom:
        email = await custom.send()

        await custom.turn()

        assert (await custom.shown(email))["status"] == status
        assert await custom.kept() == 0


async def test_it_waits_for_its_time_and_expires_with_its_server(
    database: DatabaseSettings,
) -> None:
    async with queued(database) as custom:
        later = await custom.value("SELECT now() + interval '2 h'")
        email = await custom.send(scheduled_at=later.isoformat())
        assert await custom.turn() == 0
        await custom.do(
            "UPDATE mailqueue.custom_smtp_servers SET expires_at = now(), run_at = now();"
            " UPDATE mailqueue.email_queue SET expires_at = now()"
        )

        await custom.turn()

        shown = await custom.shown(email)
        assert (shown["status"], custom.server.messages) == ("expired", [])
        assert await custom.kept() == 0


async def test_cancelling_it_forgets_the_server(database: DatabaseSettings) -> None:
    async with queued(database) as custom:
        email = await custom.send()
        await custom.api.post(f"/v1/emails/{email}/cancel")

        await custom.turn()

        assert (await custom.shown(email))["status"] == "cancelled"
        assert await custom.kept() == 0
        assert custom.server.messages == []


async def test_held_mail_keeps_its_server_until_that_expires(database: DatabaseSettings) -> None:
    async with queued(database) as custom:
        first, second = await custom.send(), await custom.send(to=["bob@example.com"])
        await custom.do("UPDATE mailqueue.email_queue SET status = 'held'")
        assert await custom.turn() == 0
        await custom.api.post(f"/v1/emails/{first}/release")
        assert await custom.turn() == 1
        assert (await custom.shown(first))["status"] == "sent"

        await custom.do("UPDATE mailqueue.custom_smtp_servers SET expires_at = now()")
        assert await custom.turn() == 0
        assert await custom.kept() == 0
        await custom.api.post(f"/v1/emails/{second}/release")
        assert "sender account" not in (await custom.shown(second))["why"]
        async with connect(database) as conn:
            [claimed] = await claim(conn, await make.worker(conn))
        assert str(claimed.id) == second, "it is mail as any other by now"


async def test_who_unsubscribed_meanwhile_is_not_written_to(database: DatabaseSettings) -> None:
    async with queued(database) as custom:
        email = await custom.send()
        await custom.do(
            "INSERT INTO mailqueue.bounce_list (email, bounce_type)"
            " VALUES ('ann@example.com', 'hard')"
        )

        await custom.turn()

        assert (await custom.shown(email))["status"] == "suppressed"
        assert await custom.kept() == 0


async def test_limits_of_the_project_hold_for_it(database: DatabaseSettings) -> None:
    async with queued(database) as custom:
        email = await custom.send()
        await custom.do("UPDATE mailqueue.projects SET daily_limit = 0")

        assert await custom.turn() == 0
        assert (await custom.shown(email))["status"] == "pending"
        await custom.do(
            "UPDATE mailqueue.projects SET daily_limit = 5;"
            " UPDATE mailqueue.custom_smtp_servers SET run_at = now()"
        )

        assert await custom.turn() == 1
        assert (await custom.shown(email))["status"] == "sent"


async def test_without_the_key_it_waits_and_a_new_key_opens_it(
    database: DatabaseSettings,
) -> None:
    async with queued(database) as custom:
        email = await custom.send()
        new = MasterKey(b"another key of thirty-two octets", previous=KEY)
        async with connect(database) as conn:
            done = await rotate(conn, new, by="me")
        custom.key = MasterKey(b"a third key that has 32 octets..")
        await custom.turn()
        refused = await custom.shown(email)
        custom.key = MasterKey(new.key)
        await custom.do("UPDATE mailqueue.custom_smtp_servers SET run_at = now()")
        await custom.turn()

        assert done.resealed == 1
        assert refused["status"] == "pending"
        assert "cannot be opened" in refused["why"]
        assert (await custom.shown(email))["status"] == "sent"


async def test_a_test_key_queues_none_and_no_master_key_seals_none(
    database: DatabaseSettings,
) -> None:
    async with calling(database) as api:
        override = {"host": "smtp.example.org", "queue": True}
        body = {**HELLO, "from_email": "a@example.org", "smtp_override": override}
        async with connect(database) as conn:
            await make.sender_account(conn, name="pit", provider="trap")
            key = (await issue_key(conn, "default", "try", is_test=True)).key.reveal()

        refused = await api.send(body, X_API_Key=key)
        unsealed = await api.send(body)

        assert (refused.status_code, error_of(refused)["field"]) == (422, "smtp_override")
        assert (unsealed.status_code, error_of(unsealed)["name"]) == (409, "conflict")
        async with connect(database) as conn:
            assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 0


async def test_the_same_request_is_queued_once(database: DatabaseSettings) -> None:
    async with queued(database) as custom:
        ids = [await custom.send(idempotency_key="one") for _ in range(2)]

        assert ids[0] == ids[1]
        assert await custom.kept() == 1
        assert await custom.turn() == 1
        assert len(custom.server.messages) == 1
