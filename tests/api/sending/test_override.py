"""POST /v1/send with the caller's server: sent during the request, and no secret is stored."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mailqueue.db.pool import connect
from mailqueue.mail.accept import log_lines
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import HELLO, Calling, calling, error_of
from tests.logged import log_of
from tests.mail.custom_smtp.sending import LOGIN_EHLO, PASSWORD, USER
from tests.mail.custom_smtp.sending import CustomSmtp as Office
from tests.smtp.client.scripted import ScriptedServer, scripted

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def serving(
    database: DatabaseSettings, *, allowed: str = "127.0.0.1/32", **answers: Any
) -> AsyncIterator[tuple[Calling, ScriptedServer]]:
    async with (
        scripted(ehlo=LOGIN_EHLO, **answers) as server,
        calling(database, allowed_hosts=allowed) as api,
    ):
        yield api, server


def body(server: ScriptedServer, **changes: Any) -> dict[str, Any]:
    override = {
        "provider_type": "smtp",
        "host": "127.0.0.1",
        "port": server.port,
        "username": USER,
        "password": PASSWORD,
        "tls_mode": "none",
    }
    return {**HELLO, "from_email": "hello@example.org", "smtp_override": override, **changes}


async def everything(api: Calling) -> str:
    async with connect(api.database) as conn:
        return await Office(api.database, 0, conn).everything()


async def test_the_answer_says_what_became_of_it_and_no_secret_is_kept(
    database: DatabaseSettings, capfd: pytest.CaptureFixture[str]
) -> None:
    async with serving(database) as (api, server):
        pdf = {"filename": "a.pdf", "content_type": "application/pdf"}
        content = b64encode(b"%PDF-1.7 x").decode()
        sent = await api.send(body(server, attachments=[{**pdf, "content": content}]))

        assert sent.status_code == 200, sent.text
        assert sent.json()["status"] == "sent", sent.text
        [message] = server.messages
        assert message.sender == b"MAIL FROM:<hello@example.org>"
        assert content.encode() in b"".join(message.data.split())
        kept = await everything(api)
        shown = (await api.get(f"/v1/emails/{sent.json()['id']}")).json()
        assert shown["status"] == "sent"
        for text in (kept, str(shown), sent.text, str(capfd.readouterr())):
            assert USER not in text
            assert PASSWORD not in text


async def test_a_refusal_is_an_answer_and_the_same_key_gives_it_again(
    database: DatabaseSettings,
) -> None:
    async with serving(database, RCPT=[b"550 5.1.1 no such user\r\n"]) as (api, server):
        answers = [await api.send(body(server), Idempotency_Key="one") for _ in range(2)]

        assert [(each.status_code, each.json()["status"]) for each in answers] == [
            (200, "failed")
        ] * 2
        assert answers[0].json() == answers[1].json()
        assert "no such user" in answers[0].json()["reason"]


async def test_no_mail_reaches_loopback_with_the_default_settings_of_up(
    database: DatabaseSettings,
) -> None:
    """Otherwise every tenant behind a proxy could reach services on the machine."""
    async with serving(database, allowed="") as (api, server):
        for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.8.7.6", "::ffff:127.0.0.1"):
            asked = body(server)
            asked["smtp_override"]["host"] = host

            answer = await api.send(asked)

            assert answer.status_code == 422 or answer.json()["status"] == "failed", answer.text
        assert server.connections == 0


async def test_a_faulty_server_is_named_without_its_password(database: DatabaseSettings) -> None:
    async with calling(database) as api:
        for override, field in (
            ({"host": "no host"}, "smtp_override.host"),
            ({"host": "a.example.com", "port": 70000}, "smtp_override.port"),
            ({"host": "a.example.com", "username": "x"}, "smtp_override.password"),
            ({"host": "a.example.com", "tls_mode": "maybe"}, "smtp_override"),
            ({"host": "a.example.com", "provider_type": "ses"}, "smtp_override"),
            ({"port": 25}, "smtp_override"),
            ({"host": "a.example.com", "password": [PASSWORD]}, "smtp_override"),
        ):
            wanted = {**HELLO, "from_email": "a@example.org", "smtp_override": override}
            refused = await api.send(wanted)

            assert (refused.status_code, error_of(refused)["field"]) == (422, field)
            assert PASSWORD not in refused.text


async def test_a_test_key_reaches_no_server(database: DatabaseSettings) -> None:
    async with serving(database) as (api, server):
        async with connect(database) as conn:
            await make.sender_account(conn, name="pit", provider="trap")
            key = (await issue_key(conn, "default", "try", is_test=True)).key.reveal()

        refused = await api.send(body(server), X_API_Key=key)

        assert (refused.status_code, error_of(refused)["field"]) == (422, "smtp_override")
        assert server.messages == []


async def test_an_email_with_ids_has_one_log_line_with_its_result(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(log_lines, monkeypatch)
    async with serving(database) as (api, server):
        ids = {"custom_data": {"correlation_id": "81"}}
        for _ in range(2):
            sent = await api.send(body(server, **ids), Idempotency_Key="81")

    (line,) = map(json.loads, written.getvalue().splitlines())
    assert (line["email_id"], line["status"]) == (sent.json()["id"], "sent")
    assert PASSWORD not in written.getvalue().decode()
