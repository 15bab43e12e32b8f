"""Runs the servers around watched inboxes in a process: IMAP, with mail that arrives, and Slack.

They are those of the tests, which check requests as documented. A mail is known by its subject, and
its delay is from its arrival to the message in Slack.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

import uvloop

from tests.watch.fake_imap import FakeFolder, FakeImap, fake_imap, mail
from tests.watch.fake_slack import FakeSlack, fake_slack

WANTED = "invoice"
"""Word of the rule that some persons have; every other mail has it."""
_TEXT = "The parcel has left our house and will be with you in a few days. " * 20
_HTML = f"<html><head><style>p {{ margin: 0 }}</style></head><body><p>{_TEXT}</p></body></html>"


@dataclass(frozen=True, slots=True)
class ArrivingMail:
    """Mail that arrives evenly over so many seconds, in turn in so many inboxes."""

    inboxes: int
    mails: int
    seconds: float

    def subjects(self) -> Iterator[tuple[int, str]]:
        """Yield the number of the inbox and the subject of each mail, in order."""
        for number in range(self.mails):
            word = WANTED if (number // self.inboxes) % 2 else "note"
            yield number % self.inboxes, f"Mail {number} with {word}"


@dataclass(frozen=True, slots=True)
class Posted:
    """What the servers saw: each message's channel, text and blocks, and delays in seconds."""

    messages: list[tuple[str, str, str]] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Servers:
    """The running servers; `pid` is their process."""

    imap_port: int
    slack_port: int
    pid: int
    pipe: Connection

    async def arrive(self, mails: ArrivingMail) -> None:
        """Have mail arrive; return when the last one has."""
        self.pipe.send(mails)
        await asyncio.to_thread(self.pipe.recv)

    async def posted(self) -> Posted:
        """Return what was posted; the servers take no more."""
        self.pipe.send(None)
        found = await asyncio.to_thread(self.pipe.recv)
        assert isinstance(found, Posted)
        return found


def folder_of(inbox: int) -> str:
    """Return the folder that stands for an inbox: the server has one login for all."""
    return f"box{inbox}"


@contextmanager
def own_servers(inboxes: int) -> Iterator[Servers]:
    """Run the servers until the block ends."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(theirs, inboxes), daemon=True
    )
    process.start()
    theirs.close()  # so that a wait ends with the process
    try:
        imap_port, slack_port = ours.recv()
        yield Servers(imap_port, slack_port, process.pid or 0, ours)
    finally:
        process.terminate()
        process.join()


def _serve(pipe: Connection, inboxes: int) -> None:
    uvloop.run(_served(pipe, inboxes))


async def _served(pipe: Connection, inboxes: int) -> None:
    async with fake_imap() as imap, fake_slack() as slack:
        imap.folders = {folder_of(number): FakeFolder() for number in range(inboxes)}
        noted = _Noted(slack)
        pipe.send((imap.port, slack.port))
        mails = await asyncio.to_thread(pipe.recv)
        await _arrive(imap, mails, noted)
        pipe.send("all have arrived")
        await asyncio.to_thread(pipe.recv)
        pipe.send(noted.posted())


async def _arrive(imap: FakeImap, mails: ArrivingMail, noted: "_Noted") -> None:
    began = time.monotonic()
    for number, (inbox, subject) in enumerate(mails.subjects()):
        wait = began + mails.seconds * number / mails.mails - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        elif number % 100 == 0:
            await asyncio.sleep(0)  # the servers answer
        octets = mail(number, subject=subject, text=_TEXT)
        if number % 3 == 0:
            html = mail(number, subject=subject, text=_HTML)
            octets = html.replace(b"\r\n", b"\r\nContent-Type: text/html; charset=utf-8\r\n", 1)
        noted.arrived[subject] = time.monotonic()
        imap.folders[folder_of(inbox)].add(octets)


class _Noted:
    """Notes when mail arrives, and when Slack takes a message of it."""

    def __init__(self, slack: FakeSlack) -> None:
        self.arrived: dict[str, float] = {}
        self._slack = slack
        self._times: list[float] = []
        assert slack.server is not None
        answer = slack.answer

        def timed(request: object) -> object:
            reply = answer(request)  # type: ignore[arg-type]
            self._times += [time.monotonic()] * (len(slack.messages) - len(self._times))
            return reply

        slack.server.replies = [timed]  # type: ignore[list-item]

    def posted(self) -> Posted:
        found = Posted()
        for message, at in zip(self._slack.messages, self._times, strict=True):
            lines = message["blocks"][0]["text"]["text"]
            found.messages.append((message["channel"], message["text"], lines))
            arrived = self.arrived.get(message["text"].partition(": ")[2])
            if arrived is not None:
                found.delays.append(at - arrived)
        return found
