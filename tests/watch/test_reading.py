"""What a notification says of a mail is what its reader sees and its sender wrote."""

import random
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from mailqueue.ports.mailbox import NewMail
from mailqueue.watch.preview import MAX_PREVIEW_CHARACTERS, preview_of_html, preview_of_text
from mailqueue.watch.reading import key_of, read_mail
from tests.watch.fake_imap import mail


@pytest.mark.parametrize(
    ("text", "preview"),
    [
        ("Hello\n\n  there\tyou", "Hello there you"),
        ("Yes.\n\nOn Mon, 1 May 2030, Ann <ann@example.com> wrote:\n> Are you sure?\n", "Yes."),
        ("Ja.\nAm 01.05.2030 um 08:00 schrieb Ann Lee:\n> Sicher?", "Ja."),
        ("Fine\nOn Mon, 1 May 2030 at 08:00, Ann Lee\n<ann@example.com> wrote:\n> x", "Fine"),
        ("> quoted\nNew below", "New below"),
        ("New\n-----Original Message-----\nFrom: Ann\nOld", "New"),
        ("Body\n-- \nAnn Lee, Example Ltd", "Body"),
        ("a\u200bb\u00adc\u202ed", "abcd"),
        ("x" * 400, "x" * 150),
        ("On that day she wrote: a book", "On that day she wrote: a book"),
        ("", ""),
    ],
)
def test_the_preview_of_a_text_is_without_quotes_and_signature(text: str, preview: str) -> None:
    assert preview_of_text(text) == preview


@pytest.mark.parametrize(
    "hidden",
    [
        '<div style="display:none">X</div>',
        '<div style="DISPLAY : none !important">X</div>',
        '<span style="visibility: hidden">X</span>',
        '<span style="font-size:0px; color:red">X</span>',
        '<span style="max-height: 0; overflow: hidden">X</span>',
        '<span style="opacity:0">X</span>',
        '<span style="mso-hide:all">X</span>',
        '<span style="display:/* a */none">X</span>',
        "<p hidden>X</p>",
        "<style>X</style><script>X</script><title>X</title><template>X</template>",
        "<!-- X -->",
        "<blockquote>X</blockquote>",
        '<div class="gmail_quote gmail_quote_container">X</div>',
    ],
)
def test_the_preview_of_html_has_nothing_hidden_or_quoted(hidden: str) -> None:
    assert preview_of_html(f"{hidden}<p>Seen <b>text</b></p>{hidden}") == "Seen text"


def test_visible_text_of_html_is_kept() -> None:
    html = (
        '<p style="font-size:10px;opacity:0.5;line-height:1.0">One</p><a href="https://x">two</a>'
    )
    assert preview_of_html(html) == "One two"


def test_encoded_headers_and_parts_are_read() -> None:
    octets = (
        b"From: =?iso-8859-1?q?J=FCrgen?= <j@example.com>\r\n"
        b"Subject: =?utf-8?b?R3LDvMOfZQ==?=\r\n =?utf-8?q?_aus_K=C3=B6ln?=\r\n"
        b"Message-ID:\r\n <81@example.com>\r\n"
        b"Content-Type: multipart/alternative; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\nR3LDvMOfZQ==\r\n"
        b"--b\r\nContent-Type: text/html\r\n\r\n<p>HTML</p>\r\n--b--\r\n"
    )
    read = read_mail(octets)

    assert read == (
        "<81@example.com>",
        "Jürgen",
        "j@example.com",
        "Grüße aus Köln",
        "Grüße",
    )


def test_an_attachment_is_no_preview() -> None:
    octets = (
        b"Subject: File\r\nContent-Type: text/plain; name=a.txt\r\n"
        b'Content-Disposition: attachment; filename="a.txt"\r\n\r\nsecret'
    )
    assert read_mail(octets).preview == ""


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"\x00\xff" * 1000,
        b"Subject: =?x-no-such?q?a?=\r\n\r\n",
        b'Subject: =?utf-8?b?!!!?=\r\nFrom: "\x00\x1b[31m\r\n\r\n',
        b"From: " + b"<" * 10_000 + b"\r\n\r\n",
        b"Subject: " + b"a" * 100_000,
        b'Content-Type: text/plain; charset="utf-8\x00"\r\n\r\nhi',
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 5000,
        b"Content-Type: text/html\r\n\r\n" + b"<div>" * 20_000,
        b"Content-Type: text/plain\r\nContent-Transfer-Encoding: uuencode\r\n\r\nbegin 6 x\r\n!!",
        b"Subject: a\xed\xa0\x80b\r\n\r\n",
    ],
)
def test_a_hostile_mail_is_read_without_an_error_and_can_be_stored(octets: bytes) -> None:
    read = read_mail(octets)

    assert len(read.subject) <= 998
    assert len(read.sender_address) <= 320
    assert len(read.sender_name) <= 256
    assert len(read.preview) <= MAX_PREVIEW_CHARACTERS
    for text in (read.subject, read.sender_name, read.sender_address, read.preview):
        assert "\0" not in text
        assert text.encode().decode() == text
        assert not any(ord(one) < 32 for one in text)


def test_any_octets_are_read_without_an_error() -> None:
    chance = random.Random(1)
    whole = bytearray(mail(1) + b"<p style='x'>" * 5)
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(5):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        read_mail(bytes(broken))


def test_a_message_without_an_id_is_known_by_its_place() -> None:
    one, other = (NewMail("INBOX", 1, uid, datetime.now(UTC), b"") for uid in (1, 2))
    account = uuid4()

    assert key_of(one, account, "<1@example.com>") == key_of(other, uuid4(), "<1@example.com>")
    assert key_of(one, account, None) == key_of(one, account, None)
    assert key_of(one, account, None) != key_of(other, account, None)
