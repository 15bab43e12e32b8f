"""Sends MAIL, RCPT and DATA on an open connection, in groups if the server offers PIPELINING.

With PIPELINING (RFC 2920) one write carries the body of an email, its final dot and the whole
envelope of the next; without it, one command is sent at a time. Commands are written only after all
expected replies and nothing else; an outcome is reported only if its group's replies match.
"""

import asyncio
from collections.abc import Callable, Sequence

from mailqueue.core.crashpoints import reach
from mailqueue.core.verdict import Stage
from mailqueue.ports.transport import Report, SendAttempt
from mailqueue.smtp.client.batch import EnvelopeBatch, behind
from mailqueue.smtp.client.deadline import Deadline
from mailqueue.smtp.client.envelope import Extensions
from mailqueue.smtp.client.record import OpeningRecord, Unread
from mailqueue.smtp.client.replies import Malformed, Reply, ReplyReader
from mailqueue.smtp.client.timeouts import SmtpTimeouts
from mailqueue.smtp.client.transaction import BROKEN, CLOSING, MailTransaction, NextStep, take_all

DOT = b".\r\n"
GO_ON = NextStep.GO_ON
# Larger bodies are written without the next envelope: unsent bytes then include the final dot.
MAX_SHARED_BODY_BYTES = 65536
BLOCK_BYTES = 65536  # bytes that the server must take in each `block_s`


class Conversation(asyncio.Protocol):
    """The mail transactions on one connection; one `send` at a time."""

    def __init__(
        self,
        transport: asyncio.Transport,
        offered: Extensions,
        timeouts: SmtpTimeouts,
        *,
        opening: OpeningRecord | None = None,
    ) -> None:
        """Take over a connection that is greeted, secured and authenticated."""
        self._loop = asyncio.get_running_loop()
        self._opening = opening or OpeningRecord((), self._loop.time())
        self._received_at = 0.0  # when the last bytes came
        self._transport = transport
        self._offered = offered
        self._timeouts = timeouts
        self._reader = ReplyReader()
        shortest_s = min(timeouts.command_s, timeouts.block_s, timeouts.dot_s)
        self._deadline = Deadline(self._loop, self._on_timeout, shortest_s=shortest_s)
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._is_open = True
        self._is_resetting = False  # RSET is the first expected reply
        self._is_reused = False  # has carried mail, and nothing was received since
        self._needs_reset = False
        self._owed = 0  # replies the server still has to send
        self._unsent_bytes = 0  # above 0: the connection has not taken all bytes
        self._wait_s = timeouts.command_s
        self._batch: EnvelopeBatch | None = None
        self._may_finish: Callable[[], bool] = bool
        self._done: asyncio.Future[None] | None = None
        self._turn: MailTransaction | None = None
        self._answered: list[MailTransaction] = []  # reported once the replies after them match too
        self._ahead: MailTransaction | None = None  # its envelope follows the body of `_turn`
        transport.set_protocol(self)
        transport.set_write_buffer_limits(high=1)  # to be called when the last byte was sent

    @property
    def is_usable(self) -> bool:
        """Return whether another mail may be sent."""
        return self._is_open and not self._transport.is_closing()

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        """Send the emails in order and report each exactly once; see `ports.transport.Channel`."""
        self._batch = batch = await EnvelopeBatch.of(mails, report, self._offered, self._opening)
        self._may_finish = may_finish
        self._done = done = self._loop.create_future()
        if self.is_usable:
            self._deadline.start(self._timeouts.command_s)
            self._begin(batch)
        else:
            self._fail("the connection was closed")
        try:
            await done
        except asyncio.CancelledError:
            self._fail("stopped while sending")
            raise
        finally:
            self._deadline.stop()
            self._is_reused = True
        batch.raise_fault()

    async def quit(self) -> None:
        """Send QUIT and close, waiting at most `quit_s` seconds for each."""
        if self.is_usable and self._batch is None:
            self._is_open = False
            self._transport.write(b"QUIT\r\n")
            await asyncio.wait((self._gone,), timeout=self._timeouts.quit_s)
        if not self._gone.done():
            self._fail("closed while sending")
            await asyncio.wait((self._gone,), timeout=self._timeouts.quit_s)

    def data_received(self, data: bytes) -> None:
        """Read the replies in these bytes, then write what they allow."""
        if not self._is_open:  # the answer to QUIT
            self._transport.close()
            return
        self._received_at = self._loop.time()
        if self._owed == 4 and self._all_taken(data):
            return
        if replies := self._reader.feed(data):
            self._deadline.set(self._timeouts.command_s)
        for reply in replies:
            if self._turn is not None:
                self._turn.log.append((self._received_at, reply))
            if isinstance(reply, Malformed):
                self._fail(f"the server sent {reply.why}", trusted=False)
            elif self._owed == 0:
                self._take_surplus(reply)
            else:
                self._owed -= 1
                self._take(reply)
            if not self._is_open:
                return
        if self._owed == 0:
            if not self._reader.is_between_replies:
                self._fail("the server sent more replies than commands", trusted=False)
            elif self._batch is not None:
                self._advance(self._batch)

    def _all_taken(self, data: bytes) -> bool:
        """Read the replies to the dot and the next one-recipient envelope, if all are positive."""
        turn, ahead, batch = self._turn, self._ahead, self._batch
        if turn is None or ahead is None or batch is None or self._unsent_bytes:
            return False
        if not self._reader.is_between_replies:
            return False
        if not take_all(turn, ahead, data, self._received_at):
            return False
        self._end_turn(turn)
        self._turn, self._ahead, self._is_reused, self._owed = ahead, None, False, 0
        self._advance(batch)
        return True

    def pause_writing(self) -> None:
        """Record that bytes are unsent: the server cannot have the whole message."""
        self._unsent_bytes = self._transport.get_write_buffer_size()
        self._deadline.set(self._timeouts.block_s)

    def resume_writing(self) -> None:
        """Record that the last byte was sent; the wait for the reply begins."""
        self._unsent_bytes = 0
        self._deadline.set(self._wait_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the emails in progress."""
        if not self._gone.done():
            self._gone.set_result(None)
        self._fail("the server closed the connection" if exc is None else "the connection broke")

    def _on_timeout(self) -> None:
        left = self._transport.get_write_buffer_size()
        if 0 < left <= self._unsent_bytes - BLOCK_BYTES:
            self._unsent_bytes = left
            self._deadline.set(self._timeouts.block_s)
        else:
            # After a missing reply, refusals are matched to wrong commands.
            turn = self._turn
            is_sound = turn is None or not turn.grouped or not turn.has_refusal
            self._fail("no answer in time", trusted=is_sound)

    def _take(self, reply: Reply) -> None:
        turn = self._turn
        if turn is None or (self._is_resetting and reply.code != 250):
            self._fail("the server refused RSET", trusted=False)
        elif self._is_resetting:
            self._is_resetting = False
        elif turn.handed_over and self._unsent_bytes:
            self._take_early_refusal(turn, reply)
            self._fail("the server answered before it received the message", trusted=False)
        else:
            self._is_reused = False
            then = turn.take(reply)
            if then is GO_ON:
                return
            if then is NextStep.DONE:
                self._end_turn(turn)
                self._turn, self._ahead = self._ahead, None
                self._is_reused = True
            elif then is NextStep.CLOSING:
                self._end_turn(turn)
                self._fail("the server closes the connection")
            elif then is BROKEN:
                self._fail(f"the server answered {reply.code} out of sequence", trusted=False)

    def _take_surplus(self, reply: Reply) -> None:
        """Read an unexpected reply; after the 354 it may be an early refusal."""
        turn = self._turn
        if turn is not None and turn.then is NextStep.BODY:
            self._take_early_refusal(turn, reply)
        self._fail("the server sent an unexpected reply", trusted=reply.code == CLOSING)

    def _take_early_refusal(self, turn: MailTransaction, reply: Reply) -> None:
        """Report a refusal that came before the whole message was sent."""
        if self._batch is not None and reply.code >= 400:
            turn.take(reply)
            self._end_turn(turn)
            self._batch.report_answered(self._answered)

    def _advance(self, batch: EnvelopeBatch) -> None:
        """Write the next bytes; every expected reply was read."""
        batch.report_answered(self._answered)
        turn = self._turn
        if turn is None:
            self._begin(batch)
        elif turn.then is NextStep.BODY:
            self._write_body(turn, batch)
        else:
            is_lone = turn.then is NextStep.LONE_DOT
            command = DOT if is_lone else turn.plan.commands[turn.step]
            turn.log.append((self._received_at, (command,)))
            self._write(command, owed=1)

    def _begin(self, batch: EnvelopeBatch) -> None:
        """Begin the next email or end the batch; RSET comes first if one is needed."""
        planned = batch.take()
        if planned is None:
            self._complete()
            return
        grouped, started = self._offered.pipelining, self._loop.time()
        self._turn = turn = MailTransaction(planned, grouped=grouped, started=started)
        self._is_resetting, self._needs_reset = self._needs_reset, False
        commands = turn.begin(with_reset=self._is_resetting)
        self._write(b"".join(commands), owed=len(commands))

    def _write_body(self, turn: MailTransaction, batch: EnvelopeBatch) -> None:
        """Send the message, followed by the next envelope if that is allowed."""
        if not self._may_finish():
            self._fail("stopped before the message was handed over")
            return
        reach("message.begun")
        turn.handed_over = True
        self._wait_s = self._timeouts.dot_s
        self._deadline.set(self._wait_s)
        self._owed = 1
        body = turn.plan.body
        turn.log.append((self._received_at, len(body)))
        if len(body) > MAX_SHARED_BODY_BYTES:
            self._transport.write(body)
            reach("message.half_written")
            self._transport.write(DOT)
            reach("dot.written")
            return
        parts: tuple[bytes, ...] = (body, DOT)
        if self._offered.pipelining and (ahead := batch.take_ready()) is not None:
            self._ahead = MailTransaction(ahead, grouped=True, started=self._loop.time())
            self._owed += len(ahead.commands)
            parts += self._ahead.begin()
        self._transport.write(b"".join(parts))
        reach("dot.written")

    def _write(self, data: bytes, *, owed: int) -> None:
        self._wait_s = self._timeouts.command_s
        self._deadline.set(self._wait_s)
        self._owed = owed
        self._transport.write(data)

    def _end_turn(self, turn: MailTransaction) -> None:
        self._turn = None
        self._needs_reset = turn.needs_reset
        self._answered.append(turn)

    def _fail(self, why: str, *, trusted: bool = True) -> None:
        """Close the connection and report every email of the batch by its progress."""
        self._is_open = False
        self._transport.abort()
        batch, turn, ahead = self._batch, self._turn, self._ahead
        self._turn = self._ahead = None
        if batch is None:
            return
        batch.report_answered(self._answered, lost="" if trusted else why)
        if turn is not None:
            if self._unsent_bytes and ahead is None:
                turn.handed_over = False  # the unsent bytes include the final dot
            if unfinished := self._reader.unfinished:
                turn.log.append((self._received_at, Unread(unfinished)))
            never_heard = turn.step == 0 and (self._is_resetting or self._is_reused)
            stage = Stage.CONNECT if never_heard else None
            batch.report_lost(turn, why, trusted=trusted, stage=stage)
        if ahead is not None:
            batch.report(ahead.plan.mail, behind(why), started=ahead.started)
        batch.report_rest(why)
        self._complete()

    def _complete(self) -> None:
        self._batch = None
        if self._done and not self._done.done():
            self._done.set_result(None)
