"""A batch with a custom SMTP server: stored encrypted for each mail, sent by it only, deleted."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.sending.test_override import everything
from tests.api.support.calling import error_of
from tests.mail.claim.steps import claim
from tests.mail.custom_smtp.queueing import Queued, queued
from tests.mail.custom_smtp.sending import PASSWORD, USER
from tests.rows import each_row

pytestmark = pytest.mark.anyio


@pytest.fixture
async def custom(database: DatabaseSettings) -> AsyncIterator[Queued]:
    async with queued(database) as made:
        yield made


async def test_a_batch_is_sent_by_that_server_and_each_mail_forgets_it(
    database: DatabaseSettings, capfd: pytest.CaptureFixture[str]
) -> None:
    async with queued(database) as custom:
        await custom.do(
            "INSERT INTO mailqueue.bounce_list (email, bounce_type)"
            " VALUES ('c@example.com', 'hard')"
        )
        answer = await custom.api.post("/v1/send/batch", batch(custom))
        waiting = await everything(custom.api)
        async with connect(database) as conn:
            assert await claim(conn, await make.worker(conn)) == [], "no account of the project"

        assert answer.status_code == 202, answer.text
        found = answer.json()
        assert [one["status"] for one in found["results"]] == [
            "queued",
            "rejected",
            "suppressed",
            "queued",
        ]
        assert await custom.kept() == 2
        sealed = "SELECT count(DISTINCT sealed) FROM mailqueue.custom_smtp_servers"
        assert await custom.value(sealed) == 2
        while await custom.turn():
            pass

        assert len(custom.server.messages) == 2
        assert await custom.kept() == 0
        for one in (found["results"][0], found["results"][3]):
            assert (await custom.shown(one["id"]))["status"] == "sent"
        for text in (answer.text, waiting, await everything(custom.api), str(capfd.readouterr())):
            assert USER not in text
            assert PASSWORD not in text
        await custom.books()


@each_row(
    "changes, named, field",
    [
        ({}, {"queue": False}, "smtp_override"),
        ({}, {"host": "no host"}, "smtp_override.host"),
        ({"smtp_config_id": "pit"}, {}, "smtp_config_id"),
        ({"from_email": None}, {}, "from_email"),
        ({"delivery": "resend"}, {}, "delivery"),
        ({"mode": "strict"}, {}, "recipients"),
    ],
)
async def test_a_batch_with_a_server_is_refused_whole(
    custom: Queued, changes: dict[str, Any], named: dict[str, Any], field: str
) -> None:
    body = batch(custom) | changes
    body["smtp_override"] |= named

    refused = await custom.api.post("/v1/send/batch", body)

    assert (refused.status_code, error_of(refused)["field"]) == (422, field), refused.text
    assert await custom.kept() == 0
    assert await custom.value("SELECT count(*) FROM mailqueue.email_queue") == 0


def batch(custom: Queued) -> dict[str, Any]:
    """Return a batch of which two mails are sent, by the server."""
    server = {
        "host": "127.0.0.1",
        "port": custom.server.port,
        "username": USER,
        "password": PASSWORD,
        "tls_mode": "none",
    }
    given = ("ann@example.com", "no address", "c@example.com", "Dan <dan@example.com>")
    return {
        "subject": "We moved",
        "text_body": "Come",
        "from_email": "hello@example.org",
        "smtp_override": server,
        "recipients": [{"email": one} for one in given],
    }
