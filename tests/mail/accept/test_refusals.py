"""Invalid complete messages, and the allowed forms of an author."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.raw import RawEmail, prepared, with_crlf
from tests.mail.accept.messages import raw, simple


def refusal(octets: bytes, *to: str) -> str:
    with pytest.raises(InvalidField) as caught:
        prepared(RawEmail(octets, to or ("ann@example.com",)))
    return str(caught.value)


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        (simple(b"X-Mailqueue-Colour: red"), "X-Mailqueue-Colour: is not a field of mailqueue"),
        (simple(b"X-Mailqueue-Campaign: a", b"X-Mailqueue-Campaign: b"), "stands twice"),
        (simple(b"X-Mailqueue-Send-At: tomorrow"), "a time with its zone is needed"),
        (simple(b"X-Mailqueue-Send-At: 2030-01-01T00:00:00"), "a time with its zone is needed"),
        (simple(b"X-Mailqueue-Custom-Data: [1]"), "a JSON object is needed"),
        (simple(b'X-Mailqueue-Custom-Data: {"a": "\\u0000"}'), "a NUL character"),
        (simple(b"X-Mailqueue-Max-Attempts: -1"), "a number is needed"),
        (raw(b"To: ann@example.com"), "From: the field is required"),
        (simple(b"From: other@example.com"), "From: the field is required once"),
        (raw(b"From: a@example.com, b@example.com"), "one address is needed"),
        (raw(b"From: alice@example.org)bob@evil.example"), "is not a mailbox such as"),
        (raw(b"From: us:a@example.com;"), "one address is needed"),
        (raw(b'From: "a <a@example.com>'), "is not a mailbox such as"),
        (raw(b"From: root@localhost"), "a domain without a dot"),
        (raw(b" folded: at once"), "a line of the header is not a field"),
        (raw(b"From shop Fri Nov 20", b"From: a@example.com"), "is not a field: 'From shop Fri"),
        (b"just text\r\n", "a line of the header is not a field"),
        (simple() + b"one\ntwo\r\n", "a bare CR or LF"),
        (simple() + b"one\rtwo\r\n", "a bare CR or LF"),
        (simple() + b"one\n\r\r\n", "a bare CR or LF"),
        (simple() + b"a\0b\r\n", "contains a NUL"),
        (simple() + b"x" * 999 + b"\r\n", "more than 998 bytes"),
        (raw(*[b"Received: by x"] * 51, b"From: a@example.com"), "a mail loop"),
        (raw(*[b"A: b"] * 1_001, b"From: a@example.com"), "more than 1000 fields"),
    ],
)
def test_what_is_no_message_of_ours_is_refused(octets: bytes, why: str) -> None:
    assert why in refusal(octets)


def test_a_line_of_998_octets_is_taken() -> None:
    assert prepared(RawEmail(simple() + b"x" * 998 + b"\r\n", ("ann@example.com",)))


@pytest.mark.parametrize(
    "author",
    [
        b"shop@example.com",
        b"<shop@example.com>",
        b"shop@example.com (Cron (the) Daemon)",
        b"(note) Shop \\ <shop@example.com>".replace(b"\\ ", b""),
        b'"Shop, \\"the\\" (one)" <shop@example.com>',
        b"=?utf-8?q?Shop?=\r\n <shop@example.com>",
    ],
)
def test_an_author_is_read_however_it_is_written(author: bytes) -> None:
    document = prepared(RawEmail(raw(b"From: " + author), ("ann@example.com",))).documents[0]

    assert document["email"]["from_email"] == "shop@example.com"  # type: ignore[index]


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"x", b".", b"\0", b": "]), max_size=30))
def test_whatever_comes_is_refused_or_canonical(pieces: list[bytes]) -> None:
    octets = b"From: a@example.com\r\n" + b"".join(pieces)
    try:
        found = prepared(RawEmail(octets, ("ann@example.com",))).octets
    except InvalidField:
        return
    assert b"\0" not in found
    assert found == with_crlf(found)
