"""The header of a complete message is kept byte by byte, or refused if it is invalid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.mime.rawhead import NotAMessage, read_head
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
