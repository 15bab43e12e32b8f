"""The reader of foreign messages: their parts, within limits."""

from base64 import b64encode
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.mime.reader import MimeLimits, read_message, unfolded

MULTIPART = b"Content-Type: multipart/mixed; boundary=b\n\n"
CARRIED = b"Content-Type: message/rfc822\n"
INNER = b"Subject: inner\nContent-Type: text/html\n\nhi\n"
OPENING = MimeLimits(opens_messages=True)


def types_of(raw: bytes, limits: MimeLimits = OPENING) -> list[str]:
    return [part.content.get_content_type() for part in read_message(raw, limits).root.walk()]


def test_a_message_in_a_message_is_opened_where_that_is_asked_for() -> None:
    raw = CARRIED + b"\n" + INNER

    assert types_of(raw, MimeLimits()) == ["message/rfc822"]
    assert types_of(raw) == ["message/rfc822", "text/html"]


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("base64", b64encode(INNER.replace(b"\n", b"\r\n"))),
        ("BASE64 ", b64encode(INNER)),
        ("quoted-printable", INNER.replace(b"=", b"=3D")),
        ("8bit", b"\n\r\n" + INNER),
    ],
)
def test_a_message_in_a_message_may_be_encoded(encoding: str, body: bytes) -> None:
    raw = CARRIED + f"Content-Transfer-Encoding: {encoding}\n\n".encode() + body

    (inner,) = read_message(raw, OPENING).root.children

    assert inner.fields[0] == ("Subject", " inner")
    assert (inner.content.get_content_type(), inner.body) == ("text/html", b"hi\n")


def test_parts_are_spans_of_the_message() -> None:
    raw = MULTIPART + b"preamble\n--b\n\none\n--b\r\n\r\ntwo\r\n--b--\nepilogue"

    root = read_message(raw, OPENING).root

    assert [part.body for part in root.children] == [b"one", b"two"]
    assert all(part.raw is root.raw for part in root.walk())


def test_the_value_of_a_field_keeps_its_folds_until_it_is_unfolded() -> None:
    ((name, value),) = read_message(b"X-A: one\r\n\ttwo\r\n\r\n", OPENING).root.fields

    assert (name, unfolded(value)) == ("X-A", "one\ttwo")


@pytest.mark.parametrize(
    ("limits", "raw"),
    [
        (replace(OPENING, message_bytes=10), b"Subject: x\n\nhi"),
        (replace(OPENING, header_bytes=10), b"Subject: long\n\nhi"),
        (replace(OPENING, headers=1), b"A: b\nC: d\n\nhi"),
        (replace(OPENING, parts=2), MULTIPART + b"--b\n\nx\n" * 2),
        (replace(OPENING, depth=1), MULTIPART + b"--b\n" + MULTIPART + b"--b\n\nx"),
        (replace(OPENING, boundary_lines=2), MULTIPART + b"--bx\n" * 3),
        (replace(OPENING, depth=2), (CARRIED + b"\n") * 4),
        (replace(OPENING, parts=2), (CARRIED + b"\n") * 4),
    ],
)
def test_each_limit_is_kept_and_what_it_left_out_is_said(limits: MimeLimits, raw: bytes) -> None:
    read = read_message(raw, limits)

    assert not read.is_complete
    assert len(list(read.root.walk())) <= limits.parts
    assert read_message(raw, OPENING).is_complete


@given(
    st.lists(
        st.sampled_from([CARRIED, MULTIPART, b"--b\n", b"--b--\n", b"\n", b"\r\n", b"x", INNER])
        | st.binary(max_size=10),
        max_size=60,
    ).map(b"".join)
)
def test_whatever_comes_is_read_within_the_limits(raw: bytes) -> None:
    limits = MimeLimits(parts=10, depth=3, headers=5, opens_messages=True)

    parts = list(read_message(raw, limits).root.walk())

    assert len(parts) <= 10
    assert all(len(part.fields) <= 5 for part in parts)
    assert all(0 <= part.span[0] <= part.span[1] <= len(part.raw) for part in parts)
