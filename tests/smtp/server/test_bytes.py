"""However the client's bytes are split, the server receives the same messages and replies the
same.
"""

import asyncio
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mailqueue.smtp.server.conversation import ServerConversation
from mailqueue.smtp.server.handler import ServerLimits, SmtpService
from tests.smtp.server.serving import Memory, mail


class Wire(asyncio.Transport):
    """Records what the server writes."""

    def __init__(self) -> None:
        super().__init__()
        self.said = b""
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.said += data

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def heard(stream: bytes, cuts: list[int], limits: ServerLimits) -> tuple[list[bytes], bytes, bool]:
    """Return the accepted messages, the replies, and whether the server closed."""

    async def talk() -> tuple[list[bytes], bytes, bool]:
        memory, wire = Memory(), Wire()
        server = ServerConversation(SmtpService(memory, limits, "localhost", None), set())
        server.connection_made(wire)
        edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
        for start, end in pairwise(edges):
            server.data_received(stream[start:end])
            await asyncio.sleep(0)
        for _ in range(30):  # what came at once is taken one after the other
            await asyncio.sleep(0)
        result = memory.raws, wire.said, wire.is_closed
        server.connection_lost(None)
        return result

    return asyncio.run(talk())


pieces = st.sampled_from(
    [b"\r\n", b"\r", b"\n", b".", b"..", b"\r\n.", b"a", b"\0", b"\xff", b"Subject: x", b"x" * 70]
)
bodies = st.lists(pieces, max_size=12).map(b"".join).map(lambda b: b + b"\r\n" if b else b)
noise = st.sampled_from([b"NOOP\r\n", b"RSET\r\n", b"garbage\r\n", b"VRFY x\rx\r\n", b"QUIT\n"])


def stuffed(body: bytes) -> bytes:
    dotted = b"." + body if body.startswith(b".") else body
    return dotted.replace(b"\r\n.", b"\r\n..")


@settings(max_examples=150, deadline=None)
@given(st.lists(bodies, min_size=1, max_size=4), st.lists(st.integers(0, 2000), max_size=30))
def test_any_cut_gives_the_messages_that_were_sent(sent: list[bytes], cuts: list[int]) -> None:
    stream = b"EHLO x\r\n" + b"".join(mail(stuffed(body)) for body in sent)

    taken, said, is_closed = heard(stream, cuts, ServerLimits())

    assert taken == sent
    assert said.count(b"250 2.0.0 taken\r\n") == len(sent)
    assert not is_closed


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(noise, bodies.map(mail)), max_size=8),
    st.lists(st.integers(0, 2000), max_size=30),
)
def test_any_cut_of_anything_is_answered_alike(sent: list[bytes], cuts: list[int]) -> None:
    stream = b"EHLO x\r\n" + b"".join(sent)
    limits = ServerLimits(message_bytes=300, errors=5, command_bytes=100)

    assert heard(stream, cuts, limits) == heard(stream, [], limits)


def test_any_cut_of_an_oversized_message_finds_its_end() -> None:
    stream = b"EHLO x\r\n" + mail(b"y" * 500 + b"\r\n") + mail(b"small\r\n")

    for cut in range(len(stream)):
        taken, said, _ = heard(stream, [cut], ServerLimits(message_bytes=100))
        assert taken == [b"small\r\n"]
        assert said.count(b"552 5.3.4") == 1
