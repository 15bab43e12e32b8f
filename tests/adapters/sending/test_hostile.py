"""Hostile content of a mail stays within its own field, with every provider."""

import base64
from collections.abc import Iterator
from email import message_from_bytes
from typing import Any

import pytest

from mailqueue.adapters.sending.mailgun import form
from mailqueue.adapters.sending.parts import parts_of
from mailqueue.core.verdict import Accepted
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import Request, fake
from tests.adapters.sending.mails import mail, verdict_of
from tests.adapters.sending.providers import MAILGUN, PROVIDERS
from tests.adapters.sending.strict import form_of

pytestmark = [pytest.mark.anyio]

SEPARATORS = (
    *("\r\n", "\n", "\r", "\r\n\r\n", "\n\n", "\x00", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"),
    *("\x85", "\u2028", "\u2029", "\u202e", "\x7f", "\x1b"),
)
EVIL = "Bcc: victim@example.net"
SPOKEN = ('"', "'", "\\", "<b>", "{{ x }}", "%0d%0aBcc:", "=?utf-8?q?=0D=0ABcc:?=", "é", "🐉", ";,")
each = pytest.mark.parametrize("provider", PROVIDERS, ids=[one.name for one in PROVIDERS])


def texts(document: Any) -> Iterator[str]:
    """Yield every text of a document, including names."""
    match document:
        case dict():
            for name, value in document.items():
                yield name
                yield from texts(value)
        case list():
            for value in document:
                yield from texts(value)
        case str():
            yield document


def said(provider: DocumentedProvider, request: Request) -> list[str]:
    """Return the texts of a request except the bodies of the mail."""
    if provider is MAILGUN:
        return [value.decode() for name, value in form_of(request) if name != "message"]
    bodies = ("Hallo\n", "<p>Hallo</p>\n")
    return [text for text in texts(request.json) if text not in bodies]


@each
async def test_no_tag_or_category_ends_a_line(provider: DocumentedProvider) -> None:
    async with fake([provider.accepts]) as server:
        service = provider.service(server.site, max_tags=2)
        for separator in SEPARATORS:
            one = mail(tags=(f"a{separator}{EVIL}", f"{separator}{EVIL}"))
            assert isinstance(await verdict_of(service, one), Accepted)

    for request in server.requests:
        provider.check(request)
        for text in said(provider, request):
            assert not any(mark in text for separator in SEPARATORS for mark in separator)


@each
@pytest.mark.parametrize("words", SPOKEN)
async def test_odd_words_stay_in_their_fields(provider: DocumentedProvider, words: str) -> None:
    name = words.replace('"', "").replace("\\", "").replace("<b>", "b")
    one = mail(
        to=[f'"A {name} Z" <ann@example.org>'],
        subject=f"S {words}",
        headers=[("X-Odd", f"H {words}")],
        tags=(f"T {words}",),
    )
    async with fake([provider.accepts]) as server:
        assert isinstance(await verdict_of(provider.service(server.site), one), Accepted)

    [request] = server.requests
    provider.check(request)
    message = carried(provider, request)
    if message is None:
        assert f"S {words}" in list(texts(request.json))
        assert f"H {words}" in list(texts(request.json))
        assert any(f"A {name} Z" in text for text in texts(request.json))
    else:
        assert message == one.message
        assert "victim@example.net" not in str(message_from_bytes(message).get("Bcc"))


def carried(provider: DocumentedProvider, request: Request) -> bytes | None:
    """Return the message as the provider reads it; None where it reads fields."""
    match provider.name:
        case "ses":
            return base64.b64decode(request.json["Content"]["Raw"]["Data"])
        case "gmail":
            return base64.urlsafe_b64decode(request.json["raw"])
        case "mailgun":
            return dict(form_of(request))["message"]
    return None


def test_a_form_keeps_its_fields_apart_whatever_they_hold() -> None:
    message = b"From: a\r\n\r\nx\r\n"
    boundary = form([], message=message)[2:].partition(b"\r\n")[0].decode()
    fields = [("to", "a"), ('o:"tag\r\nX: 1', f"x\r\n--{boundary}--\r\n"), ("v:b", "--")]

    written = form(fields, message=message)
    mark = written[2:].partition(b"\r\n")[0].decode()
    kind = {"content-type": f"multipart/form-data; boundary={mark}"}
    read = form_of(Request("POST", "/", kind, written))

    assert mark != boundary
    assert [value for _, value in read] == [
        *(value.encode() for _, value in fields),
        message,
    ]


def test_parts_say_what_the_message_says() -> None:
    for words in (*SPOKEN, " two  spaces", "x" * 900, "é" * 300):
        one = mail(
            subject=f"S{words}",
            headers=[("X-Odd", f"H{words}"), ("List-Unsubscribe", "<https://example.com/u>")],
            text=f"T{words}\n",
            html=f"<p>{words}</p>\n",
        )
        parts = parts_of(one)

        assert parts.subject == f"S{words}"
        assert dict(parts.headers)["X-Odd"] == f"H{words}"
        assert (parts.text, parts.html) == (f"T{words}\n", f"<p>{words}</p>\n")
        assert parts.sender.name == "Shop"
