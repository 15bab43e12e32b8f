"""Parsing of MAIL and RCPT in the server."""

import pytest

from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.commands import MailFrom, read_mail, read_rcpt


@pytest.mark.parametrize(
    ("argument", "sender"),
    [
        (b"FROM:<ann@example.com>", "ann@example.com"),
        (b"from: <ann@example.com> size=100 body=8bitmime", "ann@example.com"),
        (b"FROM:<>", ""),
        (b'FROM:<"a b>"@example.com>', '"a b>"@example.com'),
        (b"FROM:<@relay.example,@b.example:ann@example.com>", "ann@example.com"),
        (b"FROM:<ann@example.com> AUTH=<>", "ann@example.com"),
        ("FROM:<bø@example.com> SMTPUTF8".encode(), "bø@example.com"),
    ],
)
def test_the_sender_is_read(argument: bytes, sender: str) -> None:
    found = read_mail(argument, max_bytes=1000)

    assert isinstance(found, MailFrom)
    assert found.sender == sender


@pytest.mark.parametrize(
    ("argument", "code"),
    [
        (b"", 501),
        (b"FROM:ann@example.com", 501),
        (b"FROM:<ann@example.com", 501),
        (b"FROM:<ann@example.com>>", 501),
        (b"FROM:<a@example.com><b@example.com>", 501),
        (b"FROM:<a b@example.com>", 501),
        (b"FROM:<ann>", 553),
        (b"FROM:<@example.com>", 553),
        (b"FROM:<ann@>", 553),
        (b"FROM:<" + b"a" * 250 + b"@example.com>", 553),
        ("FROM:<bø@example.com>".encode(), 553),
        (b"FROM:<b\xff@example.com> SMTPUTF8", 553),
        ("FROM:<b\u2028@example.com> SMTPUTF8".encode(), 553),
        (b"FROM:<ann@example.com> SIZE=1001", 552),
        (b"FROM:<ann@example.com> SIZE=x", 555),
        (b"FROM:<ann@example.com> BODY=BINARYMIME", 555),
        (b"FROM:<ann@example.com> HELLO", 555),
    ],
)
def test_a_faulty_sender_is_refused(argument: bytes, code: int) -> None:
    found = read_mail(argument, max_bytes=1000)

    assert isinstance(found, SmtpReply)
    assert found.code == code


def test_the_recipient_is_read() -> None:
    assert read_rcpt(b"TO:<ann@example.com>", needs_smtputf8=False) == "ann@example.com"
    assert read_rcpt(b"to:<Postmaster>", needs_smtputf8=False) == "Postmaster"


@pytest.mark.parametrize(
    ("argument", "code"),
    [(b"TO:<>", 553), (b"TO:<ann@example.com> NOTIFY=NEVER", 555), (b"FROM:<a@example.com>", 501)],
)
def test_a_faulty_recipient_is_refused(argument: bytes, code: int) -> None:
    found = read_rcpt(argument, needs_smtputf8=False)

    assert isinstance(found, SmtpReply)
    assert found.code == code
