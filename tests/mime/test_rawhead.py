"""The header of a complete message is kept byte by byte, or refused if it is invalid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.mime.rawhead import MAX_HEAD_BYTES, NotAMessage, is_dear, read_head
from mailqueue.mime.reader import MimeLimits, read_message

PIECES = [b"A: b", b"\r\n", b"\r\n ", b"\r\n\t", b"To:", b" x", b"\xff", b":", b"", b"no field"]


@given(st.lists(st.sampled_from(PIECES), max_size=20))
def test_fields_and_body_together_are_the_message(pieces: list[bytes]) -> None:
    raw = b"".join(pieces) + b"\r\n\r\nbody\r\n"
    try:
        head = read_head(raw)
    except NotAMessage:
        return

    assert b"".join(field.octets for field in head.fields) + raw[head.end :] == raw


def test_a_line_that_is_no_field_is_refused_where_the_reader_leaves_it_out() -> None:
    raw = b"From: a@example.com\r\nno field\r\nTo: b@example.com\r\n\r\nbody\r\n"

    assert [name for name, _ in read_message(raw, MimeLimits()).root.fields] == ["From", "To"]
    with pytest.raises(NotAMessage, match="no field"):
        read_head(raw)


@pytest.mark.parametrize(
    "lines", [b" z\r\n" * 100_000, b"X: y\r\n" * 100_000, b" " + b"z" * 990 + b"\r\n"]
)
def test_a_header_is_read_to_its_limit_only(lines: bytes) -> None:
    raw = b"From: a@example.com\r\n" + lines * (1 + MAX_HEAD_BYTES // len(lines)) + b"\r\nbody\r\n"

    with pytest.raises(NotAMessage, match="the header has more than"):
        read_head(raw)


def test_a_header_as_large_as_the_limit_is_read() -> None:
    raw = b"X: y\r\n" + b" z\r\n" * ((MAX_HEAD_BYTES - 6) // 4) + b"\r\nbody\r\n"

    assert read_head(raw).end == len(raw) - len(b"\r\nbody\r\n")


def test_large_headers_and_many_parts_are_dear_and_long_texts_are_not() -> None:
    head = b"From: a@example.com\r\n"

    assert is_dear(head + b" z\r\n" * 5_000 + b"\r\nbody\r\n")
    assert is_dear(head + b"\r\n" + b"--b\r\n\r\n" * 100)
    assert not is_dear(head + b"\r\n" + b"text\r\n" * 30_000)
