"""The envelope conversation, in groups and one command at a time."""

import asyncio

import pytest

from mailqueue.core.verdict import Accepted, AllRefused, Fault, Rejected, Stage
from tests.smtp.client.scripted import PLAIN_EHLO, USUAL_EHLO, scripted
from tests.smtp.client.sending import BODY, channel_to, mail, mails, send

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("ehlo", [USUAL_EHLO, PLAIN_EHLO], ids=["grouped", "stepwise"])


@BOTH
async def test_every_mail_arrives_once_in_order_and_unchanged(ehlo: tuple[str, ...]) -> None:
    batch = [mail(f"user{n}@example.com", body=BODY + b"%d\r\n" % n) for n in range(20)]
    async with scripted(ehlo=ehlo) as server, channel_to(server.port) as channel:
        reports = await send(channel, batch)

        assert all(
            verdict == Accepted("250", "2.0.0 queued", "2.0.0") for verdict in reports.verdicts
        )
        assert [message.body for message in server.messages] == [m.message for m in batch]
        assert [message.recipients for message in server.messages] == [
            (f"RCPT TO:<user{n}@example.com>".encode(),) for n in range(20)
        ]
        assert channel.is_usable


async def test_one_write_carries_a_body_and_the_next_envelope() -> None:
    reads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hi\r\n")
        await reader.readline()
        writer.write(b"250-x\r\n250 PIPELINING\r\n")
        for answers in (
            b"250 a\r\n250 b\r\n354 c\r\n",
            b"250 d\r\n250 e\r\n250 f\r\n354 g\r\n",
            b"250 h\r\n",
        ):
            reads.append(await reader.read(65536))
            writer.write(answers)
        await reader.readline()
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener, channel_to(listener.sockets[0].getsockname()[1]) as channel:
        reports = await send(channel, mails(2))

    assert [verdict.reply for verdict in reports.verdicts if isinstance(verdict, Accepted)] == [
        "d",
        "h",
    ]
    envelope = b"MAIL FROM:<bounce@example.org>\r\nRCPT TO:<user%d@example.com>\r\nDATA\r\n"
    assert reads == [envelope % 0, BODY + b".\r\n" + envelope % 1, BODY + b".\r\n"]


@BOTH
async def test_a_body_full_of_dots_arrives_as_it_was(ehlo: tuple[str, ...]) -> None:
    bodies = [b".\r\n", b"..\r\n.\r\n", b"a\r\n.\r\nb\r\n..\r\n", b".a\r\nb.\r\n", b"no end", b""]
    async with scripted(ehlo=ehlo) as server, channel_to(server.port) as channel:
        await send(channel, [mail(body=body) for body in bodies])

        expected = [body if body.endswith(b"\r\n") else body + b"\r\n" for body in bodies]
        assert [message.body for message in server.messages] == expected


@BOTH
async def test_a_refused_recipient_does_not_disturb_the_next_mail(ehlo: tuple[str, ...]) -> None:
    """With pipelining the next envelope was already sent when the refusal came."""
    refusal = b"550 5.1.1 user unknown\r\n"
    rcpt = [b"250 ok\r\n", refusal, b"250 ok\r\n"]
    async with scripted(ehlo=ehlo, RCPT=rcpt) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(3))

        first, second, third = reports.verdicts
        assert isinstance(first, Accepted)
        assert second == Rejected(
            Fault.PERMANENT_RECIPIENT,
            "550",
            "5.1.1 user unknown",
            Stage.RCPT,
            enhanced="5.1.1",
            hard=True,
        )
        assert isinstance(third, Accepted)
        assert len(server.messages) == 2


async def test_a_go_ahead_without_recipients_is_ended_by_a_lone_dot() -> None:
    """RFC 2920 section 3.1: send the dot and ignore the reply."""
    async with (
        scripted(
            RCPT=[b"250 ok\r\n", b"550 5.1.1 no\r\n"],
            DATA=[b"354 go\r\n", b"354 go\r\n"],
            dot=[b"250 first\r\n", b"554 5.5.1 nobody there\r\n"],
        ) as server,
        channel_to(server.port) as channel,
    ):
        reports = await send(channel, mails(3))

        assert isinstance(reports.verdicts[0], Accepted)
        assert isinstance(reports.verdicts[1], Rejected)
        assert reports.verdicts[1].hard
        assert isinstance(reports.verdicts[2], Accepted)
        assert [len(message.recipients) for message in server.messages] == [1, 1]


@BOTH
async def test_a_refused_sender_is_one_mails_matter(ehlo: tuple[str, ...]) -> None:
    answers = [b"550 5.1.8 bad sender domain\r\n"]
    async with scripted(ehlo=ehlo, MAIL=answers) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(2))

        first, second = reports.verdicts
        assert isinstance(first, Rejected)
        assert (first.kind, first.stage, first.hard) == (Fault.ACCOUNT, Stage.MAIL, False)
        assert isinstance(second, Accepted)


@BOTH
async def test_data_refused_with_good_recipients_concerns_the_message(
    ehlo: tuple[str, ...],
) -> None:
    answers = [b"451 4.3.0 not now\r\n", b"554 5.6.0 never\r\n"]
    async with scripted(ehlo=ehlo, DATA=answers) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(3))

        first, second, third = reports.verdicts
        assert isinstance(first, Rejected)
        assert (first.kind, first.stage) == (Fault.TRANSIENT, Stage.DATA)
        assert isinstance(second, Rejected)
        assert (second.kind, second.stage) == (Fault.PERMANENT_MESSAGE, Stage.DATA)
        assert isinstance(third, Accepted)
        assert server.verbs.count("RSET") == 2


@BOTH
async def test_a_refused_message_leaves_the_connection_good(ehlo: tuple[str, ...]) -> None:
    answers = [b"550 5.7.1 looks like spam\r\n", b"552 5.3.4 too large\r\n"]
    async with scripted(ehlo=ehlo, dot=answers) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(3))

        first, second, third = reports.verdicts
        assert isinstance(first, Rejected)
        assert (first.kind, first.stage) == (Fault.INFRASTRUCTURE, Stage.DOT)
        assert isinstance(second, Rejected)
        assert second.kind is Fault.PERMANENT_MESSAGE
        assert isinstance(third, Accepted)
        assert "RSET" not in server.verbs


@BOTH
async def test_of_several_recipients_each_has_its_own_outcome(ehlo: tuple[str, ...]) -> None:
    rcpt = [b"250 ok\r\n", b"550 5.1.1 no\r\n", b"452 4.5.3 too many recipients\r\n"]
    three = mail("a@example.com", "b@example.com", "c@example.com")
    async with scripted(ehlo=ehlo, RCPT=rcpt) as server, channel_to(server.port) as channel:
        reports = await send(channel, [three])

        (verdict,) = reports.verdicts
        assert isinstance(verdict, Accepted)
        found = [(r.address, r.why.kind, r.why.hard) for r in verdict.refused]
        assert found == [
            ("b@example.com", Fault.PERMANENT_RECIPIENT, True),
            ("c@example.com", Fault.TRANSIENT, False),
        ]
        assert server.messages[0].recipients == (b"RCPT TO:<a@example.com>",)


@BOTH
async def test_all_recipients_refused_says_why_for_each(ehlo: tuple[str, ...]) -> None:
    rcpt = [b"550 5.1.1 no\r\n", b"450 4.2.0 greylisted\r\n"]
    two = mail("a@example.com", "b@example.com")
    async with scripted(ehlo=ehlo, RCPT=rcpt) as server, channel_to(server.port) as channel:
        reports = await send(channel, [two, mail()])

        verdict, after = reports.verdicts
        assert isinstance(verdict, AllRefused)
        assert [r.why.code for r in verdict.refused] == ["550", "450"]
        assert isinstance(after, Accepted)


@BOTH
async def test_a_message_refused_after_some_recipients_were_keeps_their_reasons(
    ehlo: tuple[str, ...],
) -> None:
    rcpt = [b"250 ok\r\n", b"550 5.1.1 no\r\n"]
    two = mail("a@example.com", "b@example.com")
    answers = {"RCPT": rcpt, "dot": [b"451 4.3.0 later\r\n"]}
    async with scripted(answers, ehlo=ehlo) as server, channel_to(server.port) as channel:
        reports = await send(channel, [two])

        (verdict,) = reports.verdicts
        assert isinstance(verdict, AllRefused)
        found = {r.address: (r.why.kind, r.why.stage) for r in verdict.refused}
        assert found == {
            "a@example.com": (Fault.TRANSIENT, Stage.DOT),
            "b@example.com": (Fault.PERMANENT_RECIPIENT, Stage.RCPT),
        }


@BOTH
async def test_a_large_body_arrives_whole(ehlo: tuple[str, ...]) -> None:
    large = mail(body=(b"." + b"y" * 75 + b"\r\n") * 20_000)
    large_ehlo = tuple(word for word in ehlo if not word.startswith("SIZE"))
    async with scripted(ehlo=large_ehlo) as server, channel_to(server.port) as channel:
        reports = await send(channel, [large, mail()])

        assert all(isinstance(verdict, Accepted) for verdict in reports.verdicts)
        assert server.messages[0].body == large.message


async def test_a_long_batch_takes_as_many_connections_as_the_account_asks() -> None:
    async with scripted() as server, channel_to(server.port, max_messages=2) as channel:
        reports = await send(channel, mails(5))

        assert all(isinstance(verdict, Accepted) for verdict in reports.verdicts)
        assert server.connections == 3
        assert channel.is_usable
        await send(channel, mails(1))
        assert not channel.is_usable


@BOTH
async def test_an_unknown_user_after_the_body_of_two_suppresses_neither(
    ehlo: tuple[str, ...],
) -> None:
    answers = [b"550 5.1.1 user unknown\r\n"]
    two = mail("a@example.com", "b@example.com")
    async with scripted(ehlo=ehlo, dot=answers) as server, channel_to(server.port) as channel:
        reports = await send(channel, [two])

        assert [(r.kind, r.hard) for r in reports.rejected] == [(Fault.PERMANENT_MESSAGE, False)]


@BOTH
async def test_a_mail_refused_here_is_reported_in_its_turn(ehlo: tuple[str, ...]) -> None:
    """It needs no server, but the mail before it has to be settled first."""
    batch = [mail(), mail("no address"), mail(body=b"bare\nLF\r\n"), mail()]
    async with scripted(ehlo=ehlo) as server, channel_to(server.port) as channel:
        reports = await send(channel, batch)

        assert [type(v) for v in reports.verdicts] == [Accepted, Rejected, Rejected, Accepted]
        assert len(server.messages) == 2
