"""Replies are parsed however the bytes are split, and garbage is bounded."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.smtp.client.replies import (
    MAX_LINE_BYTES,
    MAX_LINES,
    Malformed,
    Reply,
    ReplyReader,
    enhanced_code,
)

WIRE = b"250 ok\r\n250-mx\r\n250-SIZE 10\r\n250 HELP\r\n354\r\n550 5.1.1 no\n421 bye\r\n"
FOUND = [
    Reply(250, b"ok"),
    Reply(250, b"mx\nSIZE 10\nHELP"),
    Reply(354, b""),
    Reply(550, b"5.1.1 no"),
    Reply(421, b"bye"),
]


def test_replies_of_one_and_of_many_lines_are_read() -> None:
    reader = ReplyReader()

    assert reader.feed(WIRE) == FOUND
    assert reader.is_between_replies


@given(st.lists(st.integers(0, len(WIRE)), max_size=12))
def test_where_the_bytes_are_cut_changes_nothing(cuts: list[int]) -> None:
    reader = ReplyReader()
    edges = [0, *sorted(cuts), len(WIRE)]
    pieces = [WIRE[start:end] for start, end in pairwise(edges)]

    assert [reply for piece in pieces for reply in reader.feed(piece)] == FOUND
    assert reader.is_between_replies


@pytest.mark.parametrize(
    "line",
    [
        b"hello\r\n",
        b"25 ok\r\n",
        b"2500 ok\r\n",
        b"150 ok\r\n",
        b"650 ok\r\n",
        b"250_ok\r\n",
        b"250 a\0b\r\n",
        b"250 a\rb\r\n",
        b"\r\n",
        b" 250 ok\r\n",
        b"\xff\xfe250 ok\r\n",
        b"250-a\r\n251 b\r\n",
        b"250-a\r\nrubbish\r\n",
        b"2\xb250 ok\r\n",
    ],
)
def test_a_line_that_is_no_reply_is_an_error_and_not_a_guess(line: bytes) -> None:
    (found,) = ReplyReader().feed(line)

    assert isinstance(found, Malformed)


def test_good_replies_before_nonsense_are_still_given() -> None:
    first, second = ReplyReader().feed(b"250 ok\r\nnonsense\r\n250 more\r\n")

    assert first == Reply(250, b"ok")
    assert isinstance(second, Malformed)


def test_a_line_without_end_is_given_up_early() -> None:
    reader = ReplyReader()
    for fed in range(0, 10_000_000, 65536):
        found = reader.feed(b"2" * 65536 if fed else b"250 " + b"x" * 65532)
        if found:
            break

    assert isinstance(found[0], Malformed)
    assert fed < 2 * 65536


def test_a_long_line_with_an_end_is_given_up_too() -> None:
    (found,) = ReplyReader().feed(b"250 " + b"x" * MAX_LINE_BYTES + b"\r\n")

    assert isinstance(found, Malformed)


def test_a_reply_without_last_line_is_given_up() -> None:
    reader = ReplyReader()
    lines = 0
    found: list[Reply | Malformed] = []
    while not found and lines <= MAX_LINES:
        found = reader.feed(b"250-more\r\n")
        lines += 1

    assert isinstance(found[0], Malformed)


@pytest.mark.parametrize(
    ("code", "text", "enhanced"),
    [
        (550, "5.1.1 user unknown", "5.1.1"),
        (550, "5.1.10", "5.1.10"),
        (450, "4.7.1 later", "4.7.1"),
        (550, "4.7.1 wrong class", ""),
        (550, "5.1 short", ""),
        (550, "5.1.1234 long", ""),
        (550, "no 5.1.1 in front", ""),
        (550, "5.1.1x", ""),
        (250, "", ""),
    ],
)
def test_an_enhanced_code_counts_only_in_its_place_and_class(
    code: int, text: str, enhanced: str
) -> None:
    assert enhanced_code(code, text) == enhanced


def test_text_for_the_record_is_one_printable_bounded_line() -> None:
    reply = Reply(550, b"one\ntwo \xff\x1b[31m" + b"x" * 1000)

    detail = reply.detail()

    assert detail.startswith("one two \ufffd\ufffd[31mx")
    assert detail.isprintable()
    assert len(detail) <= 500
