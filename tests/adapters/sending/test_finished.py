"""A message from a program is split into fields for providers that take fields."""

from uuid import UUID

import pytest

from mailqueue.adapters.sending.parts import Person, TooManyParts, parts_of
from mailqueue.core.address import parse_mailbox
from mailqueue.core.verdict import Fault, Rejected
from mailqueue.mime.compose import PerMail, compose
from mailqueue.mime.files import MessageFile as AttachedFile
from mailqueue.mime.skeleton import MessageContent, compile_skeleton
from mailqueue.ports.transport import Envelope, SendAttempt
from tests.adapters.sending.fake import fake
from tests.adapters.sending.mails import MESSAGE_ID, WRITTEN_AT, verdict_of
from tests.adapters.sending.providers import POSTMARK

MESSAGE = (
    b"Received: from a by b; Fri, 20 Nov 2026 10:00:00 +0000\r\n"
    b'From: "Shop, the" <shop@example.com> (a comment)\r\n'
    b"To: =?iso-8859-1?q?=C4nn?= <ann@example.com>,\r\n\tother@example.org\r\n"
    b"Subject: Hello\r\n there\r\n"
    b"Message-ID: <a@example.com>\r\n"
    b"X-Kept: yes\r\n"
    b"Content-Type: multipart/mixed; boundary=one\r\n\r\n"
    b"--one\r\nContent-Type: multipart/alternative; boundary=two\r\n\r\n"
    b"--two\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe\r\n"
    b"--two\r\nContent-Type: text/html\r\n\r\n<p>x</p>\r\n--two--\r\n"
    b'--one\r\nContent-Type: application/pdf; name="a.pdf"\r\n\r\n%PDF\r\n--one--\r\n'
)


def test_what_a_program_wrote_comes_out_as_fields() -> None:
    envelope = Envelope("bounces@example.com", ("ann@example.com", "hidden@example.com"))

    parts = parts_of(SendAttempt(UUID(int=1), envelope, MESSAGE))

    assert parts.sender == Person("Shop, the", "shop@example.com")
    assert parts.to == (Person("Änn", "ann@example.com"),)
    assert parts.bcc == (Person("", "hidden@example.com"),)
    assert (parts.subject, parts.text, parts.html) == ("Hello there", "Grüße", "<p>x</p>")
    assert parts.headers == (("X-Kept", "yes"),)
    assert [(file.name, file.octets) for file in parts.files] == [("a.pdf", b"%PDF")]


def attempt(message: bytes) -> SendAttempt:
    return SendAttempt(UUID(int=1), Envelope("a@example.com", ("ann@example.com",)), message)


def nested(levels: int) -> bytes:
    """Return a message of nested parts, that many levels deep."""
    inner = b"Content-Type: text/plain\r\n\r\nHello\r\n"
    for level in range(levels):
        mark = b"level-%d" % level
        head = b"Content-Type: multipart/mixed; boundary=" + mark + b"\r\n\r\n--"
        inner = head + mark + b"\r\n" + inner + b"--" + mark + b"--\r\n"
    return b"From: a@example.com\r\nTo: ann@example.com\r\n" + inner


def test_parts_in_parts_are_read_as_deep_as_mail_is_accepted() -> None:
    assert parts_of(attempt(nested(15))).text == "Hello"
    with pytest.raises(TooManyParts, match="too deeply nested parts"):
        parts_of(attempt(nested(300)))


@pytest.mark.anyio
async def test_a_message_that_cannot_be_read_as_a_whole_is_refused_before_it_is_sent() -> None:
    async with fake([POSTMARK.accepts]) as server:
        verdict = await verdict_of(POSTMARK.service(server.site), attempt(nested(300)))

    assert isinstance(verdict, Rejected)
    assert (verdict.kind, len(server.requests)) == (Fault.PERMANENT_MESSAGE, 0)


def test_any_number_of_files_is_read_and_names_of_any_length() -> None:
    names = ["\N{DRAGON FACE}" * 62 + ".txt", *(f"{n}.txt" for n in range(2_500))]
    files = tuple(AttachedFile(name, "text/plain", b"one\r\n") for name in names)
    skeleton = compile_skeleton(MessageContent("Hello", None, "Hello", files=files))
    ann = parse_mailbox("ann@example.com")
    built = compose(
        skeleton, PerMail(sender=ann, to=[ann], written_at=WRITTEN_AT, message_id=MESSAGE_ID)
    )

    found = parts_of(attempt(built)).files

    assert [file.name for file in found] == names
    assert {file.octets for file in found} == {b"one\r\n"}


def test_a_message_inside_a_message_is_a_file_with_every_byte_of_it() -> None:
    inner = b"Subject:  two  spaces\r\nX-Long: a\r\n\tb\r\n\r\nGr\xfc\xdfe\r\n"
    head = b"From: a@example.com\r\nContent-Type: multipart/mixed; boundary=one\r\n\r\n"
    body = b"--one\r\nContent-Type: message/rfc822\r\n\r\n" + inner + b"\r\n--one--\r\n"

    [file] = parts_of(attempt(head + body)).files

    assert (file.content_type, file.octets) == ("message/rfc822", inner)
