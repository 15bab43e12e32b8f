"""Files in a message: parsers agree on names, types and bytes."""

from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.address import parse_mailbox
from mailqueue.mime.compose import PerMail, compose
from mailqueue.mime.files import MessageFile, check_file
from mailqueue.mime.skeleton import MessageContent, compile_skeleton
from tests.mime.strict import check_octets
from tests.mime.test_compose import AT, SHOP

PDF = MessageFile("Rechnung Nr. 5.pdf", "application/pdf", b"%PDF-1.7 " + bytes(range(256)) * 20)
LOGO = MessageFile(
    "logo.png", "image/png", b"\x89PNG\r\n\x1a\n" + b"x" * 100, content_id="logo@example.com"
)
NAMES = st.text(
    st.characters(
        exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cf"], exclude_characters="/\\\u061c"
    ),
    min_size=1,
    max_size=60,
).filter(lambda name: name == name.strip() != "." * len(name) and len(name.encode()) <= 255)


def read(content: MessageContent) -> EmailMessage:
    octets = compose(
        compile_skeleton(content),
        PerMail(
            sender=SHOP,
            to=[parse_mailbox("ann@example.net")],
            cc=[],
            reply_to=(),
            written_at=AT,
            message_id="<1@example.com>",
        ),
    )
    check_octets(octets)
    found = message_from_bytes(octets, policy=policy.default)
    assert isinstance(found, EmailMessage)
    assert [part.defects for part in found.walk()] == [[] for _ in found.walk()]
    return found


def shape(message: EmailMessage) -> list[str]:
    return [part.get_content_type() for part in message.walk()]


def test_an_attachment_arrives_octet_for_octet_under_its_name() -> None:
    message = read(MessageContent("Hi", "<p>Hi</p>", "Hi", files=(PDF,)))

    assert shape(message) == [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "text/html",
        "application/pdf",
    ]
    (found,) = message.iter_attachments()
    assert isinstance(found, EmailMessage)
    assert found.get_filename() == PDF.name
    assert found.get_content() == PDF.octets
    assert found.get_content_disposition() == "attachment"


def test_a_picture_the_html_shows_stands_beside_it() -> None:
    message = read(
        MessageContent("Hi", '<img src="cid:logo@example.com">', "Hi", files=(PDF, LOGO))
    )

    assert shape(message) == [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
        "application/pdf",
    ]
    picture = next(part for part in message.walk() if part.get_content_type() == "image/png")
    assert picture["Content-ID"] == "<logo@example.com>"
    assert picture.get_content_disposition() == "inline"


def test_a_body_of_one_kind_needs_no_alternative() -> None:
    assert shape(read(MessageContent("Hi", None, "Hi", files=(PDF,)))) == [
        "multipart/mixed",
        "text/plain",
        "application/pdf",
    ]
    assert shape(read(MessageContent("Hi", "<p>", None, files=(LOGO,)))) == [
        "multipart/related",
        "text/html",
        "image/png",
    ]


def test_a_name_that_looks_like_an_encoded_word_is_not_read_as_one() -> None:
    """A parser that decodes it would show another name than the one that was checked."""
    name = "=?utf-8?q?bill=2Epdf=2Eexe?="
    message = read(
        MessageContent("Hi", None, "Hi", files=(MessageFile(name, "application/pdf", b"x"),))
    )

    (found,) = message.iter_attachments()
    assert isinstance(found, EmailMessage)
    assert found.get_filename() == name


@given(name=NAMES, octets=st.binary(max_size=300))
def test_any_name_and_any_octets_come_out_as_they_went_in(name: str, octets: bytes) -> None:
    message = read(
        MessageContent("Hi", None, "Hi", files=(MessageFile(name, "application/pdf", octets),))
    )

    (found,) = message.iter_attachments()
    assert isinstance(found, EmailMessage)
    assert found.get_filename() == name
    assert found.get_content() == octets


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (MessageFile("", "application/pdf", b""), "1 to 255 bytes"),
        (MessageFile("..", "application/pdf", b""), "1 to 255 bytes"),
        (MessageFile("x" * 256, "application/pdf", b""), "1 to 255 bytes"),
        (MessageFile("a\r\nBcc: eve@example.com", "application/pdf", b""), r"U\+000D"),
        (MessageFile("../etc/passwd", "application/pdf", b""), r"U\+002F"),
        (MessageFile("photo\u202egpj.exe", "application/pdf", b""), r"U\+202E"),
        (MessageFile("a", "application/pdf\r\nX: y", b""), "not a content type"),
        (MessageFile("a", "text", b""), "not a content type"),
        (MessageFile("a", "multipart/mixed", b""), "cannot be attached"),
        (MessageFile("a", "message/rfc822", b""), "cannot be attached"),
        (MessageFile("a", "image/png", b"", content_id="a>\r\nX: y"), "not a Content-ID"),
    ],
)
def test_what_cannot_stand_in_a_header_is_refused(file: MessageFile, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_file(file)


def test_a_content_id_is_given_once_and_needs_html() -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        compile_skeleton(MessageContent("Hi", "<p>", None, files=(LOGO, LOGO)))
    with pytest.raises(ValueError, match="needs an html body"):
        compile_skeleton(MessageContent("Hi", None, "Hi", files=(LOGO,)))
