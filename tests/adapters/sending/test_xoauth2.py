"""AUTH XOAUTH2: an SMTP account that logs in with access tokens."""

import base64

import pytest

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.sending.oauth import RefreshToken, Tokens
from mailqueue.adapters.sending.smtp import SmtpAccount, SmtpChannel, SmtpTransport
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage
from mailqueue.smtp.client.session import TlsMode
from tests.adapters.sending.fake import Fake, FakeReply, fake, says
from tests.adapters.sending.mails import PATIENT as PATIENT_HTTP
from tests.smtp.client.scripted import ScriptedServer, scripted
from tests.smtp.client.sending import PATIENT, mails, send

pytestmark = [pytest.mark.anyio]
EHLO = ("PIPELINING", "8BITMIME", "AUTH XOAUTH2 PLAIN")
TAKEN = b"235 2.7.0 Accepted\r\n"
FAULT = base64.b64encode(b'{"status":"401","schemes":"bearer"}')
CHALLENGE = b"334 " + FAULT + b"\r\n"
REFUSED = b"535 5.7.8 Username and Password not accepted\r\n"


def granted(token: str) -> FakeReply:
    return says(200, {"access_token": token, "expires_in": 3599})


def transport(server: ScriptedServer, tokens: Fake) -> SmtpTransport:
    url = f"http://127.0.0.1:{tokens.port}/token"
    grant = RefreshToken("id", Secret("secret"), Secret("refresh"), url)
    return SmtpTransport(
        SmtpAccount(
            "127.0.0.1",
            server.port,
            TlsMode.NONE,
            username="user@example.com",
            tokens=Tokens(grant, NetworkPolicy(allow_private=True), timeouts=PATIENT_HTTP),
            allow_private=True,
            timeouts=PATIENT,
        )
    )


def logins(server: ScriptedServer) -> list[bytes]:
    return [one for one in server.commands if one.startswith(b"AUTH")]


async def test_the_known_answer_is_what_is_said() -> None:
    async with (
        fake([granted("token")]) as tokens,
        scripted(EHLO=[], AUTH=[TAKEN]) as server,
    ):
        server.ehlo = EHLO
        channel = await transport(server, tokens).open()

        assert isinstance(channel, SmtpChannel), channel
        reports = await send(channel, mails(2))
        await channel.close()

        assert all(isinstance(verdict, Accepted) for verdict in reports.verdicts)
        # https://developers.google.com/gmail/imap/xoauth2-protocol
        known = b"dXNlcj11c2VyQGV4YW1wbGUuY29tAWF1dGg9QmVhcmVyIHRva2VuAQE="
        assert logins(server) == [b"AUTH XOAUTH2 " + known]


async def test_a_token_the_server_does_not_take_is_renewed_once() -> None:
    async with (
        fake([granted("old"), granted("new")]) as tokens,
        scripted(AUTH=[REFUSED, TAKEN]) as server,
    ):
        server.ehlo = EHLO
        channel = await transport(server, tokens).open()

        assert isinstance(channel, SmtpChannel), channel
        await channel.close()
        assert len(tokens.requests) == len(logins(server)) == 2
        assert b"new" in base64.b64decode(logins(server)[1].rpartition(b" ")[2])


async def test_a_mailbox_that_is_refused_twice_concerns_the_account_and_shows_no_token() -> None:
    echoed = b"535 5.7.8 no: " + base64.b64encode(
        b"user=user@example.com\x01auth=Bearer tok-1\x01\x01"
    )
    async with (
        fake([granted("tok-1")]) as tokens,
        scripted(AUTH=[REFUSED, echoed + b"\r\n"]) as server,
    ):
        server.ehlo = EHLO
        refused = await transport(server, tokens).open()

    assert isinstance(refused, Rejected)
    assert (refused.kind, refused.stage, refused.code) == (Fault.ACCOUNT, Stage.CONNECT, "535")
    assert "***" in refused.detail


async def test_the_servers_explanation_is_answered_with_an_empty_line() -> None:
    async with (
        fake([granted("token")]) as tokens,
        scripted({"AUTH": [CHALLENGE, CHALLENGE], "": [REFUSED, REFUSED]}) as server,
    ):
        server.ehlo = EHLO
        refused = await transport(server, tokens).open()

    assert isinstance(refused, Rejected)
    assert refused.kind is Fault.ACCOUNT
    assert b"" in server.commands


async def test_a_server_that_does_not_offer_it_is_not_given_a_token() -> None:
    async with fake([granted("token")]) as tokens, scripted() as server:
        server.ehlo = ("AUTH PLAIN LOGIN",)
        refused = await transport(server, tokens).open()

    assert isinstance(refused, Rejected)
    assert (refused.kind, refused.stage) == (Fault.ACCOUNT, Stage.CONNECT)
    assert "XOAUTH2" in refused.detail
    assert logins(server) == []


async def test_without_a_token_the_server_is_not_even_called() -> None:
    async with fake([says(400, {"error": "invalid_grant"})]) as tokens, scripted() as server:
        refused = await transport(server, tokens).open()

    assert isinstance(refused, Rejected)
    assert (refused.kind, refused.stage) == (Fault.ACCOUNT, Stage.CONNECT)
    assert server.connections == 0
