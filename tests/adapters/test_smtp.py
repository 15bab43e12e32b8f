"""The SMTP transport, through its port."""

from datetime import timedelta

import pytest

from mailqueue.adapters.sending.smtp import SmtpAccount, SmtpChannel, SmtpTransport
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage
from mailqueue.ports.transport import Channel, Transport
from mailqueue.smtp.client.session import TlsMode
from tests.smtp.client.scripted import CLOSE, scripted
from tests.smtp.client.sending import PATIENT, channel_to, mails, send

pytestmark = pytest.mark.anyio


def test_it_is_a_transport_and_its_channel_a_channel() -> None:
    transport: Transport = SmtpTransport(SmtpAccount("mx.example.com", 587))
    channel: type[Channel] = SmtpChannel

    assert transport is not None
    assert channel is SmtpChannel


def test_an_account_can_be_printed_without_its_password() -> None:
    account = SmtpAccount("mx.example.com", 587, username="ann", password=Secret("hunter2"))

    assert "hunter2" not in repr(account)
    assert "***" in repr(account)


async def test_an_account_of_a_tenant_does_not_reach_inside() -> None:
    async with scripted() as server:
        opened = await SmtpTransport(SmtpAccount("127.0.0.1", server.port)).open()

        assert isinstance(opened, Rejected)
        assert (opened.kind, opened.stage) == (Fault.ACCOUNT, Stage.CONNECT)
        assert server.connections == 0


async def test_a_channel_stays_good_over_many_batches_and_says_goodbye() -> None:
    async with scripted() as server:
        async with channel_to(server.port) as channel:
            for _ in range(3):
                reports = await send(channel, mails(5))
                assert all(isinstance(verdict, Accepted) for verdict in reports.verdicts)
            assert channel.is_usable

        assert server.connections == 1
        assert server.verbs[-1] == "QUIT"
        assert not channel.is_usable


async def test_an_old_channel_is_not_used_again() -> None:
    async with scripted() as server:
        account = SmtpAccount(
            "127.0.0.1",
            server.port,
            TlsMode.NONE,
            allow_private=True,
            max_age=timedelta(0),
            timeouts=PATIENT,
        )
        channel = await SmtpTransport(account).open()
        assert isinstance(channel, SmtpChannel)

        assert not channel.is_usable
        await channel.close()


async def test_when_the_next_connection_is_refused_the_rest_goes_back() -> None:
    answers = [b"220 hi\r\n", b"421 4.3.2 too many connections\r\n"]
    async with (
        scripted(CONNECT=answers) as server,
        channel_to(server.port, max_messages=2) as channel,
    ):
        reports = await send(channel, mails(4))

        assert [type(verdict) for verdict in reports.verdicts] == [Accepted] * 2 + [Rejected] * 2
        refused = reports.verdicts[3]
        assert isinstance(refused, Rejected)
        assert (refused.kind, refused.stage, refused.code) == (
            Fault.TRANSIENT,
            Stage.CONNECT,
            "421",
        )
        assert not channel.is_usable


async def test_closing_is_bounded_when_the_server_does_not_answer() -> None:
    async with scripted(QUIT=[b"", CLOSE]) as server, channel_to(server.port) as channel:
        await channel.close()

        assert not channel.is_usable
        await channel.close()


async def test_an_empty_batch_is_nothing_to_do() -> None:
    async with scripted() as server, channel_to(server.port) as channel:
        await send(channel, [])

        assert channel.is_usable
        assert server.verbs == ["EHLO"]
