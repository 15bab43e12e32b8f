"""A connection that ends or stalls: every mail is settled by the step it had reached."""

import asyncio
from uuid import UUID

import pytest

from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.ports.transport import SendAttempt
from mailqueue.smtp.client import batch, envelope
from mailqueue.smtp.client.envelope import EncodedEmail, Extensions
from mailqueue.smtp.client.timeouts import SmtpTimeouts
from tests.smtp.client.scripted import CLOSE, PLAIN_EHLO, SILENT, USUAL_EHLO, scripted
from tests.smtp.client.sending import channel_to, mail, mails, send

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("ehlo", [USUAL_EHLO, PLAIN_EHLO], ids=["grouped", "stepwise"])
# Long enough for a server that answers, on a machine that does other work too.
SHORT = SmtpTimeouts(command_s=1, block_s=0.05, dot_s=1, quit_s=1)


@pytest.mark.parametrize(
    ("verb", "stage"),
    [("MAIL", Stage.MAIL), ("RCPT", Stage.RCPT), ("DATA", Stage.DATA), (".", Stage.DOT)],
)
@pytest.mark.parametrize(
    "answer", [CLOSE, SILENT, b"421 4.3.2 closing\r\n"], ids=["close", "silence", "421"]
)
@BOTH
async def test_a_connection_lost_at_any_point_settles_every_mail(
    ehlo: tuple[str, ...], answer: bytes, verb: str, stage: Stage
) -> None:
    """Only a mail whose final dot was sent without a reply has an unknown outcome.

    One that heard nothing on a connection that served others before it is not at fault.
    """
    usual = {
        "MAIL": b"250 ok\r\n",
        "RCPT": b"250 ok\r\n",
        "DATA": b"354 ok\r\n",
        ".": b"250 ok\r\n",
    }
    script = {"dot" if verb == "." else verb: [usual[verb], answer, CLOSE]}
    async with (
        scripted(script, ehlo=ehlo) as server,
        channel_to(server.port, timeouts=SHORT) as channel,
    ):
        reports = await send(channel, mails(4))

        first, second, *rest = reports.verdicts
        assert isinstance(first, Accepted)
        assert isinstance(second, Rejected)
        is_unknown = verb == "." and not answer.startswith(b"421")
        assert second.kind is (Fault.AMBIGUOUS if is_unknown else Fault.TRANSIENT)
        heard_nothing = verb == "MAIL" and not answer.startswith(b"421")
        assert second.stage is (Stage.CONNECT if heard_nothing else stage)
        for verdict in rest:
            assert isinstance(verdict, Rejected)
            assert (verdict.kind, verdict.stage) == (Fault.TRANSIENT, Stage.CONNECT)
        assert not channel.is_usable


@BOTH
async def test_nothing_is_handed_over_when_it_may_not_be(ehlo: tuple[str, ...]) -> None:
    asked = iter([True, False, True])
    async with scripted(ehlo=ehlo) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(3), may_finish=lambda: next(asked))

        first, second, third = reports.verdicts
        assert isinstance(first, Accepted)
        assert isinstance(second, Rejected)
        assert (second.kind, second.stage) == (Fault.TRANSIENT, Stage.DATA)
        assert isinstance(third, Rejected)
        assert (third.kind, third.stage) == (Fault.TRANSIENT, Stage.CONNECT)
        assert len(server.messages) == 1
        assert not channel.is_usable


async def test_a_connection_closed_while_idle_costs_no_mail_an_attempt() -> None:
    """The next mail has not reached MAIL, and is sent on another connection."""
    async with (
        scripted(MAIL=[b"250 ok\r\n", CLOSE]) as server,
        channel_to(server.port) as channel,
    ):
        await send(channel, mails(1))

        reports = await send(channel, mails(2))

        assert [r.stage for r in reports.rejected] == [Stage.CONNECT, Stage.CONNECT]


@pytest.mark.deep
async def test_what_a_server_says_while_idle_ends_the_connection() -> None:
    answer = (b"250 ok\r\n", b"421 4.4.2 idle\r\n")
    async with scripted(dot=[answer]) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(1))
        for _ in range(6000):
            if not channel.is_usable:
                break
            await asyncio.sleep(0.005)

        assert isinstance(reports.verdicts[0], Accepted)
        assert not channel.is_usable


@pytest.mark.deep
async def test_sending_that_is_cancelled_settles_every_mail_and_closes() -> None:
    async with scripted(dot=[SILENT]) as server, channel_to(server.port) as channel:
        verdicts: list[Verdict] = []
        task = asyncio.create_task(
            channel.send(
                mails(2), lambda _, verdict, __: verdicts.append(verdict), may_finish=lambda: True
            )
        )
        for _ in range(6000):
            if b"." in server.commands:
                break
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        rejected = [verdict for verdict in verdicts if isinstance(verdict, Rejected)]
        assert rejected == verdicts
        assert [(v.kind, v.stage) for v in rejected] == [
            (Fault.AMBIGUOUS, Stage.DOT),
            (Fault.TRANSIENT, Stage.CONNECT),
        ]
        assert not channel.is_usable


@BOTH
async def test_a_report_that_raises_is_raised_when_every_email_was_reported(
    ehlo: tuple[str, ...],
) -> None:
    """Isolate: every other email has its own verdict, and its sender does not wait."""
    async with scripted(ehlo=ehlo) as server, channel_to(server.port) as channel:
        reported: list[UUID] = []
        batch = mails(4)

        def report(mail: SendAttempt, verdict: Verdict, _took_ms: int) -> None:
            assert isinstance(verdict, Accepted)
            reported.append(mail.email_id)
            if len(reported) == 2:
                raise KeyError("bug")

        with pytest.raises(KeyError):
            async with asyncio.timeout(20):
                await channel.send(batch, report, may_finish=lambda: True)

        assert reported == [mail.email_id for mail in batch]


async def test_a_report_that_raises_when_the_connection_is_lost_ends_the_sending() -> None:
    async with scripted(dot=[CLOSE]) as server, channel_to(server.port) as channel:
        reported: list[UUID] = []
        batch = mails(3)

        def report(mail: SendAttempt, _verdict: Verdict, _took_ms: int) -> None:
            reported.append(mail.email_id)
            raise KeyError("bug")

        with pytest.raises(KeyError):
            async with asyncio.timeout(20):
                await channel.send(batch, report, may_finish=lambda: True)

        assert reported == [mail.email_id for mail in batch]
        assert not channel.is_usable


@BOTH
async def test_a_server_that_stops_reading_is_given_up_before_the_dot(
    ehlo: tuple[str, ...],
) -> None:
    """Unsent bytes prove that the final dot was not sent: the outcome is known."""
    huge = mail(body=b"x" * 76 + b"\r\n" * 1 + (b"y" * 76 + b"\r\n") * 200_000)
    huge_ehlo = tuple(word for word in ehlo if not word.startswith("SIZE"))
    async with (
        scripted(ehlo=huge_ehlo, reads=False) as server,
        channel_to(server.port, timeouts=SHORT) as channel,
    ):
        reports = await send(channel, [huge, mail()])

        assert [(r.kind, r.stage) for r in reports.rejected] == [
            (Fault.TRANSIENT, Stage.DATA),
            (Fault.TRANSIENT, Stage.CONNECT),
        ]


@pytest.mark.parametrize(
    "behind",
    [CLOSE, SILENT, b"421 4.7.0 enough on this connection\r\n", b"550 5.1.8 no\r\n"],
    ids=["close", "silence", "421", "550"],
)
async def test_what_happens_to_the_next_envelope_does_not_undo_an_acceptance(
    behind: bytes,
) -> None:
    async with (
        scripted(MAIL=[b"250 ok\r\n", behind]) as server,
        channel_to(server.port, timeouts=SHORT) as channel,
    ):
        reports = await send(channel, mails(2))

        assert isinstance(reports.verdicts[0], Accepted)
        assert isinstance(reports.verdicts[1], Rejected)


async def test_a_goodbye_right_behind_the_last_answer_does_not_undo_it() -> None:
    answer = [b"250 ok\r\n421 4.7.0 enough\r\n"]
    async with scripted(dot=answer) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(1))

        assert isinstance(reports.verdicts[0], Accepted)
        assert not channel.is_usable


@pytest.mark.deep
async def test_a_slow_server_is_waited_for_as_long_as_it_takes_bytes() -> None:
    """The whole takes many times `block_s`; each wait within it is shorter."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hi\r\n")
        for answer in (b"250 hello\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go\r\n"):
            await reader.readline()
            writer.write(answer)
        tail = b""
        while tail != b"\r\n.\r\n":
            taken = await reader.read(262_144)
            tail = (tail + taken)[-5:]
            await asyncio.sleep(0.04)
        writer.write(b"250 taken\r\n")
        await reader.read()
        writer.close()

    huge = mail(body=(b"y" * 76 + b"\r\n") * 250_000)
    timeouts = SmtpTimeouts(command_s=20, block_s=1, dot_s=20, quit_s=0.1)
    listener = await asyncio.start_server(serve, "127.0.0.1", 0, limit=131_072)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        async with channel_to(port, timeouts=timeouts) as channel:
            reports = await send(channel, [huge])

    assert reports.verdicts == [Accepted("250", "taken")]


@BOTH
@pytest.mark.parametrize("place", [0, 1, 3])
async def test_an_email_that_cannot_be_encoded_fails_alone(
    ehlo: tuple[str, ...], place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not handed over, and the email before it on the wire has its answer."""
    batch_of_mails = mails(4)
    genuine = envelope.encode

    def encode(one: SendAttempt, offered: Extensions) -> EncodedEmail | Verdict:
        if one is batch_of_mails[place]:
            raise RecursionError
        return genuine(one, offered)

    monkeypatch.setattr(batch, "encode", encode)
    async with scripted(ehlo=ehlo) as server, channel_to(server.port) as channel:
        reports = await send(channel, batch_of_mails)

    assert [isinstance(verdict, Accepted) for verdict in reports.verdicts] == [
        number != place for number in range(4)
    ]
    odd = reports.verdicts[place]
    assert isinstance(odd, Rejected)
    assert (odd.kind, odd.detail) == (
        Fault.PERMANENT_MESSAGE,
        "RecursionError while encoding its envelope",
    )
    assert len(server.messages) == 3
