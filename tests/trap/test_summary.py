"""The summary of a message in the list, for any message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.trap.summary import PREVIEW_CHARACTERS, caught


def of(raw: bytes) -> str:
    return caught("a@example.com", ("b@example.com",), raw).preview


@pytest.mark.parametrize(
    ("body", "preview"),
    [
        (b"<style>p{}</style><p>Hello&amp;<b>you</b>", "Hello& you"),
        (b"<!-- hidden --><title>t</title>seen", "seen"),
        (b"<script>alert(1)", ""),
        (b"<p", ""),
    ],
)
def test_html_is_previewed_as_text(body: bytes, preview: str) -> None:
    assert of(b"Content-Type: text/html\r\n\r\n" + body) == preview


def test_a_preview_is_short_and_on_one_line() -> None:
    assert of(b"\r\n" + b"word \r\n" * 500) == ("word " * 40)[:PREVIEW_CHARACTERS]


@given(st.binary(max_size=300), st.sampled_from(["utf-8", "utf-7", "utf-16", "latin-1", "cp932"]))
def test_whatever_comes_can_be_kept_as_text(octets: bytes, charset: str) -> None:
    head = f"Subject: =?{charset}?b?2AA=?=\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"

    made = caught("", (), head.encode() + octets)

    for text in (made.subject, made.from_header, made.to_header, made.preview):
        assert "\0" not in text
        text.encode()
    assert made.raw.endswith(octets)


def test_a_number_no_character_has_is_no_fault() -> None:
    raw = b"Content-Type: text/html\r\n\r\nhi &#" + b"9" * 5000 + b"; there"

    assert caught("a@example.com", (), raw).preview == "hi \ufffd there"
