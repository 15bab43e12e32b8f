"""Early, surplus or reordered replies never count for a mail they cannot concern."""

import pytest

from mailqueue.core.verdict import Fault, Stage
from mailqueue.smtp.client.timeouts import SmtpTimeouts
from tests.smtp.client.scripted import PLAIN_EHLO, USUAL_EHLO, scripted
from tests.smtp.client.sending import channel_to, mail, mails, send

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("ehlo", [USUAL_EHLO, PLAIN_EHLO], ids=["grouped", "stepwise"])
SHORT = SmtpTimeouts(command_s=1, block_s=1, dot_s=1, quit_s=1)


async def test_a_go_ahead_after_a_refused_sender_ends_the_connection() -> None:
    """A dot could deliver an empty message here."""
    answers = {"MAIL": [b"550 5.7.1 no\r\n"], "RCPT": [b"250 ok\r\n"], "DATA": [b"354 go\r\n"]}
    async with scripted(answers) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(2))

        assert [r.kind for r in reports.rejected] == [Fault.TRANSIENT, Fault.TRANSIENT]
        assert reports.rejected[1].stage is Stage.CONNECT
        assert server.messages == []
        assert not channel.is_usable


async def test_an_early_refusal_while_we_write_is_believed_and_ends_the_connection() -> None:
    huge = mail(body=(b"y" * 76 + b"\r\n") * 200_000)
    early = (b"354 go\r\n", b"550 5.7.1 enough\r\n")
    async with (
        scripted(ehlo=("PIPELINING",), DATA=[early], reads=False) as server,
        channel_to(server.port) as channel,
    ):
        reports = await send(channel, [huge, mail()])

        assert [r.kind for r in reports.rejected] == [Fault.INFRASTRUCTURE, Fault.TRANSIENT]
        assert not channel.is_usable


async def test_an_early_success_while_we_write_is_not_believed() -> None:
    huge = mail(body=(b"y" * 76 + b"\r\n") * 200_000)
    early = (b"354 go\r\n", b"250 thanks\r\n")
    async with (
        scripted(ehlo=("PIPELINING",), DATA=[early], reads=False) as server,
        channel_to(server.port) as channel,
    ):
        reports = await send(channel, [huge])

        assert [(r.kind, r.stage) for r in reports.rejected] == [(Fault.TRANSIENT, Stage.DATA)]


async def test_a_skipped_reply_is_not_made_up_for_by_the_next_one() -> None:
    """The refusals that were read may belong to other commands: none of them counts."""
    async with (
        scripted(MAIL=[b""], RCPT=[b"550 5.1.1 no\r\n"]) as server,
        channel_to(server.port, timeouts=SHORT) as channel,
    ):
        reports = await send(channel, mails(2))

        assert [r.kind for r in reports.rejected] == [Fault.TRANSIENT, Fault.TRANSIENT]


@BOTH
@pytest.mark.parametrize("surplus", [b"250 thanks\r\n", b"25", b"250-", b"354 again\r\n"])
async def test_an_answer_in_the_same_breath_as_the_go_ahead_is_no_success(
    ehlo: tuple[str, ...], surplus: bytes
) -> None:
    answers = [b"354 go\r\n" + surplus]
    async with scripted(ehlo=ehlo, DATA=answers) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(2))

        assert [(r.kind, r.stage) for r in reports.rejected] == [
            (Fault.TRANSIENT, Stage.DATA),
            (Fault.TRANSIENT, Stage.CONNECT),
        ]
        assert server.messages == []


@BOTH
async def test_a_refusal_in_the_same_breath_as_the_go_ahead_is_believed(
    ehlo: tuple[str, ...],
) -> None:
    answers = [b"354 go\r\n550 5.7.1 on second thoughts\r\n"]
    async with scripted(ehlo=ehlo, DATA=answers) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(1))

        assert [(r.kind, r.code) for r in reports.rejected] == [(Fault.INFRASTRUCTURE, "550")]


async def test_replies_in_another_order_than_the_commands_count_for_no_mail() -> None:
    """Some servers reply to the next envelope before the message before it."""
    late = [b"", b"250 ok\r\n"]
    async with scripted(dot=late) as server, channel_to(server.port) as channel:
        reports = await send(channel, mails(3))

        assert [(r.kind, r.stage) for r in reports.rejected] == [
            (Fault.AMBIGUOUS, Stage.DOT),
            (Fault.TRANSIENT, Stage.RCPT),
            (Fault.TRANSIENT, Stage.CONNECT),
        ]
        assert len(server.messages) <= 1
