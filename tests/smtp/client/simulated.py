"""A server and a connection in memory, for every split of the bytes and every fault."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from mailqueue.core.verdict import Verdict
from mailqueue.ports.transport import SendAttempt
from mailqueue.smtp.client.conversation import Conversation
from mailqueue.smtp.client.envelope import Extensions
from tests.smtp.client.sending import PATIENT


class Wire:
    """Replaces the transport; what the client writes goes to `server`."""

    def __init__(self, server: "TruthfulServer") -> None:
        self.server = server
        self.is_aborted = False

    def set_protocol(self, _: asyncio.BaseProtocol) -> None: ...

    def set_write_buffer_limits(self, high: int) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.is_aborted

    def write(self, data: bytes) -> None:
        if not self.is_aborted:
            self.server.hear(data)

    def abort(self) -> None:
        self.is_aborted = True


@dataclass
class TruthfulServer:
    """Follows the protocol and names the mail in every reply: `250 m3 dot`.

    `fates[n]` is the verb at which mail n is refused, or "" for none. `noise` comes right before
    the reply of that number; None in it is a lost connection.
    """

    fates: list[str]
    noise: dict[int, bytes | None] = field(default_factory=dict)
    accepted: set[int] = field(default_factory=set)
    said: list[bytes | None] = field(default_factory=list)
    replies: int = 0
    mail: int = -1
    has_sender: bool = False
    has_recipient: bool = False
    in_data: bool = False
    heard: bytes = b""

    def hear(self, data: bytes) -> None:
        self.heard += data
        while True:
            end = b"\r\n.\r\n" if self.in_data and not self.heard.startswith(b".\r\n") else b"\r\n"
            line, found, rest = self.heard.partition(end)
            if not found:
                return
            self.heard = rest
            if self.in_data:
                self.take_dot(is_empty=line == b".")
            else:
                self.take(line)

    def take(self, line: bytes) -> None:
        verb = line[:4]
        if verb == b"MAIL":
            self.mail = int(line.partition(b"<m")[2].partition(b"@")[0])
            self.has_sender = self.say("MAIL", 250, 503 if self.has_sender else 550)
            self.has_recipient = False
        elif verb == b"RCPT":
            good = self.has_sender and self.say("RCPT", 250, 550)
            if not self.has_sender:
                self.reply(503, "RCPT")
            self.has_recipient = self.has_recipient or good
        elif verb == b"DATA":
            if self.has_recipient:
                self.in_data = self.say("DATA", 354, 554)
            else:
                self.reply(554, "DATA")
        else:
            self.has_sender = self.has_recipient = False
            self.reply(250, verb.decode())

    def take_dot(self, *, is_empty: bool) -> None:
        self.in_data = self.has_sender = self.has_recipient = False
        if is_empty:
            self.reply(554, "dot")
        elif self.say("dot", 250, 554):
            self.accepted.add(self.mail)

    def say(self, verb: str, good: int, bad: int) -> bool:
        is_good = self.fates[self.mail] != verb
        self.reply(good if is_good else bad, verb)
        return is_good

    def reply(self, code: int, verb: str) -> None:
        if self.replies in self.noise:
            self.said.append(self.noise[self.replies])
        self.replies += 1
        self.said.append(f"{code} m{self.mail} {verb}\r\n".encode())


async def simulate(
    server: TruthfulServer, batch: list[SendAttempt], *, grouped: bool, cuts: Iterator[int]
) -> list[Verdict]:
    """Send the batch to the server; `cuts` are the sizes in which bytes arrive."""
    verdicts: list[Verdict] = []
    order: list[SendAttempt] = []

    def report(mail: SendAttempt, verdict: Verdict, _: int) -> None:
        order.append(mail)
        verdicts.append(verdict)

    wire = Wire(server)
    conversation = Conversation(
        cast(asyncio.Transport, wire), Extensions(pipelining=grouped), PATIENT
    )
    task = asyncio.ensure_future(conversation.send(batch, report, may_finish=lambda: True))
    await asyncio.sleep(0)
    while server.said and not wire.is_aborted:
        chunk = b""
        while server.said and server.said[0] is not None:
            chunk += server.said.pop(0) or b""
        while chunk and not wire.is_aborted:
            size = next(cuts)
            conversation.data_received(chunk[:size])
            chunk = chunk[size:]
        if server.said and server.said[0] is None:
            break
    if not task.done():
        conversation.connection_lost(None)
    await task
    assert [mail.email_id for mail in order] == [mail.email_id for mail in batch]
    return verdicts
