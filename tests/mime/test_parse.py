"""Foreign messages are shown within limits, whatever their content."""

import time
from base64 import b64encode
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mailqueue.core.address import parse_mailbox
from mailqueue.mime.compose import PerMail, compose
from mailqueue.mime.decode import octets_to_text, words_to_text
from mailqueue.mime.parse import ShownAttachment, attached_file, parse_message
from mailqueue.mime.reader import MimeLimits
from mailqueue.mime.skeleton import MessageContent, compile_skeleton

MIXED = b"""\
From: =?utf-8?q?Zo=C3=AB?= <zoe@example.com>
To: ann@example.com,
 =?iso-8859-1?b?SvZyZw==?= <joerg@example.com>
Subject: =?utf-8?b?8J+OiQ==?= =?utf-8?q?_party?= today
Received: a
Received: b
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

preamble
--outer
Content-Type: multipart/alternative; boundary="outer-2"

--outer-2
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Gr=FC=DFe=
!
--outer-2
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

PGI+aGk8L2I+
--outer-2--
--outer
Content-Type: application/pdf; name="../../etc/r\xc3\xa9sum\xc3\xa9.pdf"
Content-Disposition: attachment
Content-Transfer-Encoding: base64

AAECAwQF
--outer
Content-Type: text/plain
Content-Disposition: attachment; filename*=utf-8''na%C3%AFve%0A.txt

note
--outer
Content-Type: message/rfc822

Subject: inner

body
--outer--
epilogue
"""


@pytest.mark.parametrize("raw", [MIXED, MIXED.replace(b"\n", b"\r\n")], ids=["LF", "CRLF"])
def test_a_message_is_shown_with_decoded_headers_bodies_and_attachments(raw: bytes) -> None:
    shown = parse_message(raw)

    assert shown.subject == "🎉 party today"
    assert shown.sender == "Zoë <zoe@example.com>"
    assert shown.to == "ann@example.com, Jörg <joerg@example.com>"
    assert [value for name, value in shown.headers if name == "Received"] == ["a", "b"]
    assert shown.text == "Grüße!"
    assert shown.html == "<b>hi</b>"
    line_end_octets = 2 if b"\r\n" in raw else 1
    assert shown.attachments == (
        ShownAttachment(".._.._etc_résumé.pdf", "application/pdf", 6),
        ShownAttachment("naïve\ufffd.txt", "text/plain", 4),
        ShownAttachment("", "message/rfc822", len("Subject: inner" + "body") + 2 * line_end_octets),
    )
    assert shown.is_complete


@given(
    st.text("aé日🎉=?. <>&", max_size=80),
    st.text("aé日🎉=?.\n <>&", max_size=200),
    st.none() | st.text("aé日🎉=?.\n <>&", max_size=200),
)
def test_what_we_compose_is_shown_as_it_was_given(
    subject: str, html: str, text: str | None
) -> None:
    mail = PerMail(
        sender=parse_mailbox("Shop <shop@example.com>"),
        to=[parse_mailbox("Ann <ann@example.com>")],
        written_at=datetime(2026, 1, 2, tzinfo=UTC),
        message_id="<1@example.com>",
    )

    shown = parse_message(compose(compile_skeleton(MessageContent(subject, html, text)), mail))

    assert shown.subject == subject
    assert shown.to == "Ann <ann@example.com>"
    assert shown.html is not None
    if text is None:
        assert shown.html.removesuffix("\r\n") == html.replace("\n", "\r\n").removesuffix("\r\n")
    else:
        assert shown.html == html.replace("\n", "\r\n")
    assert shown.text == (None if text is None else text.replace("\n", "\r\n"))
    assert shown.attachments == ()
    assert shown.is_complete


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
        ("=?utf-8?q?a?=\t \t=?utf-8?q?b?= c", "ab c"),
        ("x =?utf-8?q?a?= y", "x a y"),
        ("=?utf-8?b?8J+O?= =?utf-8?b?iQ==?=", "🎉"),
        ("=?utf-8*de?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?utf-8?b?YQ0KQmNj?=", "a\ufffd\ufffdBcc"),
        ("=?utf-8?q?=E2=80=AEgnp?=", "\ufffdgnp"),
        ("=?hex?q?6162?=", "6162"),
        ("=?nonsense?q?=C3=BC?=", "ü"),
        ("=?punycode?q?bcher-kva?=", "bcher-kva"),
        ("=?utf-8?x?a?= =?utf-8?q?open", "=?utf-8?x?a?= =?utf-8?q?open"),
        ("=?utf-8?b?YQ?=", "a"),
        ("=?utf-8?b?!?=", ""),
    ],
)
def test_encoded_words_are_read_as_text_on_one_line(value: str, text: str) -> None:
    assert words_to_text(value) == text


@given(st.binary(max_size=60), st.text(max_size=30) | st.sampled_from(["utf-7", "utf-16", "hex"]))
@example(b"abc", "unicode_escape")
@example(b"abc", "idna")
@example(b"abc", "undefined")
@example(b"abc", "a\0b")
def test_octets_of_any_charset_become_text(octets: bytes, charset: str) -> None:
    octets_to_text(octets, charset)


SNIPPETS = st.sampled_from(
    [
        *(b"Content-Type: multipart/mixed; boundary=b\n", b"Content-Type: text/html\n", b"--b\n"),
        *(
            b"--b--\n",
            b"\n",
            b"\r\n",
            b"\r",
            b"\0",
            b"Subject: =?utf-8?b?/?=\n",
            b"=?",
            b"?=",
            b";",
        ),
        *(b"Content-Disposition: attachment; filename*0*=utf-7''%; filename*1=x\n", b"\xff\xfe"),
        *(b"Content-Transfer-Encoding: base64\n", b"Content-Type: message/rfc822\n", b'"', b" x\n"),
        *(
            b"Content-Type: multipart/digest; boundary*=x''%62\n",
            b"charset=idna",
            b": \n",
            b"(" * 99,
        ),
    ]
)


@given(st.lists(SNIPPETS | st.binary(max_size=20), max_size=40).map(b"".join))
def test_anything_at_all_is_shown_somehow(raw: bytes) -> None:
    shown = parse_message(raw)

    assert all(name.isascii() for name, _ in shown.headers)


def nested(depth: int, kind: bytes = b"multipart/mixed") -> bytes:
    head = b"".join(
        b'Content-Type: %b; boundary="b%d"\n\n--b%d\n' % (kind, level, level)
        for level in range(depth)
    )
    return head + b"Content-Type: text/plain\n\ndeep"


HOSTILE = {
    "nested": nested(1_000),
    "nested digests": nested(1_000, b"multipart/digest"),
    "messages in messages": b"Content-Type: message/rfc822\n\n" * 20_000,
    "many parts": b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 100_000,
    "boundary lines that are none": b"Content-Type: multipart/mixed; boundary=b\n\n"
    + b"--bx\n" * 500_000,
    "headers": b"X: y\n" * 200_000,
    "one long header": b"Subject: " + b"=?utf-8?q?" * 100_000,
    "long header name": b"x" * 3_000_000,
    "folds": b"Subject: a\n" + b" b\n" * 500_000,
    "parameters": b"Content-Type: text/html" + b'; a="' * 50_000 + b"\n\nx",
    "comments": b"To: " + b"(" * 200_000 + b"\n\nx",
    "groups": b"To: " + b"a:" * 100_000 + b"\n\nx",
    "punycode": b"Content-Type: text/plain; charset=punycode\n\n" + b"a" * 2_000_000,
    "base64 of one octet": b"Content-Transfer-Encoding: base64\n\n" + b64encode(b"A" * 9_000_000),
    "empty boundary": b'Content-Type: multipart/mixed; boundary=""\n\n--\n--\n',
    "numbers": b"Content-Disposition: attachment; filename*" + b"9" * 4_000 + b"=x\n\n",
}


@pytest.mark.deep
@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_message_costs_little(raw: bytes) -> None:
    started = time.process_time()

    parse_message(raw)

    assert time.process_time() - started < 2


def test_what_a_limit_cuts_off_is_said() -> None:
    many = b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 10

    assert not parse_message(nested(30)).is_complete
    assert parse_message(nested(10)).text == "deep"
    assert not parse_message(many, MimeLimits(parts=5)).is_complete
    assert len(parse_message(many, MimeLimits(parts=5)).attachments) == 3
    assert not parse_message(MIXED, MimeLimits(message_bytes=300)).is_complete
    assert not parse_message(MIXED, MimeLimits(headers=3)).is_complete
    assert not parse_message(MIXED, MimeLimits(header_bytes=100)).is_complete
    assert not parse_message(MIXED, MimeLimits(boundary_lines=2)).is_complete
    assert parse_message(MIXED, MimeLimits(text_bytes=3)).text == "Grü"


def test_a_part_that_was_never_closed_reaches_to_the_end() -> None:
    shown = parse_message(b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nall of\nthis")

    assert shown.text == "all of\nthis"


def test_a_content_type_of_thousands_of_parameters_is_read_as_absent() -> None:
    """Isolate: the standard library takes quadratic time for them."""
    message = b'Content-Type: text/html; x="' + b";" * 4000 + b"\r\n\r\n<b>hi</b>"

    assert parse_message(message).text == "<b>hi</b>"


def test_an_attachment_is_read_by_its_place_in_the_list() -> None:
    raw = (
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n"
        b"--b\r\nContent-Type: text/plain\r\n\r\nSecond\r\n"
        b'--b\r\nContent-Type: text/html; name="a/b.html"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\nPGI+\r\n--b--\r\n"
    )
    listed = parse_message(raw).attachments

    for number, (name, content) in enumerate([("", b"Second"), ("a_b.html", b"<b>")]):
        found = attached_file(raw, number)
        assert found is not None
        assert found == (listed[number], content)
        assert listed[number].filename == name
    assert attached_file(raw, 2) is None
    assert attached_file(raw, -1) is None
    assert attached_file(b"\xff\0 no message", 0) is None
