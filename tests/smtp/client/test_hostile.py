"""Servers that violate the protocol: outcomes belong to the right mail, and all mail is settled."""

import asyncio
import itertools
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.ports.transport import SendAttempt
from tests.smtp.client.scripted import PLAIN_EHLO, USUAL_EHLO, Answer, scripted
from tests.smtp.client.sending import channel_to, mail, mails, send
from tests.smtp.client.simulated import TruthfulServer, simulate

MODES = pytest.mark.parametrize("grouped", [True, False], ids=["grouped", "stepwise"])
FATES = st.lists(
    st.sampled_from(["", "", "", "MAIL", "RCPT", "DATA", "dot"]), min_size=1, max_size=6
)
CUTS = st.lists(st.integers(1, 40), min_size=1, max_size=8)
# None is a lost connection. No verdict that fits the place: a lie that fits cannot be told.
NONSENSE = st.sampled_from(
    [
        None,
        b"\0",
        b"rubbish\r\n",
        b"250 a\0b\r\n",
        b"250-open\r\n",
        b"999 x\r\n",
        b"25",
        b"\xff" * 9,
    ]
)
EXTRA = st.sampled_from(
    [b"250 extra\r\n", b"354 extra\r\n", b"220 extra\r\n", b"250-x\r\n250 y\r\n"]
)


def batch_of(count: int) -> list[SendAttempt]:
    return [mail(f"u{n}@example.com", sender=f"m{n}@example.org") for n in range(count)]


def check(server: TruthfulServer, verdicts: list[Verdict], *, is_sound: bool = False) -> None:
    """Compare the reports with what the server did."""
    for number, verdict in enumerate(verdicts):
        own = f"m{number} "
        if isinstance(verdict, Accepted):
            assert number in server.accepted
            assert verdict.reply.endswith(f"{own}dot")
            continue
        assert isinstance(verdict, Rejected)
        if number in server.accepted:
            assert verdict.kind is Fault.AMBIGUOUS
        if verdict.kind not in (Fault.TRANSIENT, Fault.AMBIGUOUS):
            assert own in verdict.detail
        if is_sound:
            assert verdict.detail == own + server.fates[number]
            assert verdict.kind is not Fault.AMBIGUOUS


@MODES
@settings(max_examples=150, deadline=None)
@given(fates=FATES, cuts=CUTS)
def test_however_replies_are_cut_each_mail_gets_its_own(
    grouped: bool, fates: list[str], cuts: list[int]
) -> None:
    server = TruthfulServer(fates)

    verdicts = asyncio.run(
        simulate(server, batch_of(len(fates)), grouped=grouped, cuts=itertools.cycle(cuts))
    )

    check(server, verdicts, is_sound=True)
    assert len(server.accepted) == sum(isinstance(verdict, Accepted) for verdict in verdicts)


@MODES
@settings(max_examples=200, deadline=None)
@given(fates=FATES, cuts=CUTS, at=st.integers(0, 25), noise=NONSENSE)
def test_nonsense_anywhere_credits_no_mail_with_anothers_outcome(
    grouped: bool, fates: list[str], cuts: list[int], at: int, noise: bytes | None
) -> None:
    server = TruthfulServer(fates, {at: noise})

    verdicts = asyncio.run(
        simulate(server, batch_of(len(fates)), grouped=grouped, cuts=itertools.cycle(cuts))
    )

    check(server, verdicts)


@MODES
@settings(max_examples=200, deadline=None)
@given(
    cuts=CUTS,
    count=st.integers(1, 6),
    mail_no=st.integers(0, 5),
    step=st.integers(0, 2),
    extra=EXTRA,
)
def test_an_extra_reply_in_an_envelope_never_makes_a_mail_sent(
    grouped: bool, cuts: list[int], count: int, mail_no: int, step: int, extra: bytes
) -> None:
    """Before the replies to MAIL, RCPT or DATA: the replies behind it are shifted by one."""
    server = TruthfulServer([""] * count, {mail_no * 4 + step: extra})

    verdicts = asyncio.run(
        simulate(server, batch_of(count), grouped=grouped, cuts=itertools.cycle(cuts))
    )

    check(server, verdicts)
    before = max(0, mail_no - grouped)  # the outcome of the one before may be unknown
    assert all(isinstance(verdict, Accepted) for verdict in verdicts[:before])
    assert not any(isinstance(verdict, Accepted) for verdict in verdicts[mail_no + 1 :])


FLOODS: dict[str, Answer] = {
    "a line of 10 MB": b"250 " + b"x" * 10_000_000 + b"\r\n",
    "a line without end": b"2" * 1_000_000,
    "a reply without end": b"250-more\r\n" * 100_000,
    "NUL": b"250 o\0k\r\n",
    "no reply at all": b"hello there\r\n",
    "other codes within": b"250-a\r\n550 b\r\n",
    "HTTP": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "octets": bytes(range(1, 256)) + b"\r\n",
}


@pytest.mark.anyio
@pytest.mark.parametrize("answer", FLOODS.values(), ids=FLOODS.keys())
@pytest.mark.parametrize("verb", ["MAIL", "RCPT", "DATA", "dot"])
@pytest.mark.parametrize("ehlo", [USUAL_EHLO, PLAIN_EHLO], ids=["grouped", "stepwise"])
async def test_floods_and_nonsense_end_the_connection_at_once(
    ehlo: tuple[str, ...], verb: str, answer: Answer
) -> None:
    async with (
        scripted({verb: [answer]}, ehlo=ehlo) as server,
        channel_to(server.port) as channel,
    ):
        reports = await send(channel, mails(3))

        first, *rest = reports.rejected
        assert first.kind is (Fault.AMBIGUOUS if verb == "dot" else Fault.TRANSIENT)
        assert [(r.kind, r.stage) for r in rest] == [(Fault.TRANSIENT, Stage.CONNECT)] * 2
        assert not channel.is_usable


@pytest.mark.anyio
async def test_a_flood_does_not_stay_in_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    flood = [b"250 " + b"x" * 1_000_000] * 1
    for _ in range(20):
        async with scripted(MAIL=list(flood)) as server, channel_to(server.port) as channel:
            await send(channel, mails(1))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert after - before < 50 * 1024


HOSTILE_BODIES = [
    b"a\n.\nMAIL FROM:<x@example.net>\r\n",
    b"a\r.\rMAIL FROM:<x@example.net>\r\n",
    b"a\n.\r\nMAIL FROM:<x@example.net>\r\n",
    b"a\r\n.\nMAIL FROM:<x@example.net>\r\n",
    b"a\r\n.\rMAIL FROM:<x@example.net>\r\n",
    b"a\0b\r\n",
]


@pytest.mark.anyio
@pytest.mark.parametrize("body", HOSTILE_BODIES)
async def test_a_smuggled_message_never_reaches_the_wire(body: bytes) -> None:
    async with scripted() as server, channel_to(server.port) as channel:
        reports = await send(channel, [mail(body=body), mail()])

        assert [type(verdict) for verdict in reports.verdicts] == [Rejected, Accepted]
        assert server.verbs == ["EHLO", "MAIL", "RCPT", "DATA", "."]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "address",
    [
        "a@example.com\r\nRCPT TO:<eve@example.net>",
        "a@example.com> SIZE=1\r\nRCPT TO:<eve@example.net",
        "a@example.com\nDATA",
        "a b@example.com",
        "a>@example.com",
    ],
)
async def test_an_injected_command_never_reaches_the_wire(address: str) -> None:
    async with scripted() as server, channel_to(server.port) as channel:
        reports = await send(channel, [mail(address), mail(sender=address), mail()])

        assert [type(verdict) for verdict in reports.verdicts] == [Rejected, Rejected, Accepted]
        assert server.verbs == ["EHLO", "MAIL", "RCPT", "DATA", "."]
        assert b"RCPT TO:<ann@example.com>" in server.commands
