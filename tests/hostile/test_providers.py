"""Hostile text stays in its own field of a provider's request; a raw message stays one message."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from mailqueue.adapters.http.model import HttpOrigin
from mailqueue.core.verdict import Accepted, Rejected
from mailqueue.ports.transport import Envelope, SendAttempt
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import fake
from tests.adapters.sending.mails import ID, channel_of, mail, sent
from tests.adapters.sending.providers import PROVIDERS
from tests.adapters.sending.test_hostile import carried, texts
from tests.hostile.payloads import BODIES, WORDS, named
from tests.mime.strict import check_octets, header_names
from tests.smtp.client.scripted import scripted
from tests.smtp.client.sending import channel_to
from tests.smtp.client.sending import send as send_by_smtp

pytestmark = pytest.mark.anyio
END = b"\r\n\r\n"
each = pytest.mark.parametrize("provider", PROVIDERS, ids=[one.name for one in PROVIDERS])


def written(**parts: Any) -> SendAttempt | None:
    """Compose a mail; return None if it is refused."""
    try:
        return mail(**parts)
    except ValueError:
        return None


def with_words() -> Iterator[tuple[str, SendAttempt]]:
    """Yield mails with hostile text in the subject, a name and a header, where that is possible."""
    for value in WORDS.values():
        for parts in (
            {"subject": value},
            {"headers": [("X-Odd", value)]},
            {"to": [named(value, "ann@example.org")]},
        ):
            one = written(**parts)
            if one is not None:
                yield value, one


def shows(text: str, value: str) -> bool:
    """Return whether the text contains the value; characters that change text direction may be
    replaced.
    """
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')  # a name in a mailbox
    patterns = ["".join(f"(?:{re.escape(c)}|\ufffd)" for c in each) for each in (value, quoted)]
    return any(re.search(pattern, text) for pattern in patterns)


@each
async def test_hostile_words_reach_a_provider_as_they_are(provider: DocumentedProvider) -> None:
    mails = list(with_words())
    assert len(mails) > 80
    async with (
        fake([provider.accepts]) as server,
        channel_of(service(provider, server.site)) as way,
    ):
        for value, one in mails:
            before = len(server.requests)
            [verdict] = await sent(way, [one])
            if isinstance(verdict, Rejected):  # a limit of the provider's, before anything was sent
                assert len(server.requests) == before, value
                continue
            request = server.requests[-1]
            provider.check(request)
            message = carried(provider, request)
            if message is not None:
                # The order of its headers may be another: Gmail has no envelope beside them.
                check_octets(message)
                assert sorted(header_names(message)) == sorted(header_names(one.message))
                assert message.partition(END)[2] == one.message.partition(END)[2]
            else:
                assert any(shows(text, value) for text in texts(request.json)), value
                assert not {"Bcc", "bcc"} & set(request.json)


@each
async def test_hostile_bodies_reach_a_provider_as_they_are(provider: DocumentedProvider) -> None:
    async with (
        fake([provider.accepts]) as server,
        channel_of(service(provider, server.site)) as way,
    ):
        for name, value in BODIES.items():
            one = written(text=value, html=value)
            if one is None:
                assert name in ("nul", "lone surrogate")
                continue
            [verdict] = await sent(way, [one])
            assert isinstance(verdict, Accepted), name
            provider.check(server.requests[-1])
            message = carried(provider, server.requests[-1])
            if message is not None:
                assert message == one.message
            else:
                found = {text.rstrip("\n") for text in texts(server.requests[-1].json)}
                lines = value.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
                assert {text.replace("\r\n", "\n") for text in found} >= {lines}, name


def service(provider: DocumentedProvider, site: HttpOrigin) -> Any:
    return provider.service(site)


RAW = {
    name: b"From: a@example.org\r\nSubject: s\r\n\r\n" + value.encode("utf-8", "surrogatepass")
    for name, value in BODIES.items()
}


async def test_raw_octets_by_smtp_are_one_message_or_none() -> None:
    async with (
        scripted(ehlo=("PIPELINING", "8BITMIME")) as server,
        channel_to(server.port) as channel,
    ):
        for name, octets in RAW.items():
            one = SendAttempt(ID, Envelope("a@example.org", ("ann@example.com",)), octets)
            before = len(server.messages)
            [verdict] = (await send_by_smtp(channel, [one])).verdicts
            assert len(server.messages) - before == isinstance(verdict, Accepted), name
            bare = octets.replace(b"\r\n", b"")
            assert isinstance(verdict, Accepted) == (not set(bare) & set(b"\r\n\0")), name
            if isinstance(verdict, Accepted):
                arrived = server.messages[-1].body
                assert arrived in (octets, octets + b"\r\n"), name
    assert server.verbs.count("MAIL") == len(server.messages)
