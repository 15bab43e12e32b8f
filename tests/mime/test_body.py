"""Bodies arrive unchanged, whatever their content."""

import binascii
import quopri
import re
import sys
from base64 import b64decode, encodebytes
from binascii import b2a_base64
from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mailqueue.mime import body
from mailqueue.mime.body import EncodedBody, base64_lines, check_body, encode_body

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400),
    st.text("ab.= \t\r\n", max_size=400),
    st.text("aé日🎉=.\x0b\x7f \r\n", max_size=400),
    st.lists(
        st.sampled_from(["x" * 76, "x" * 998, "x" * 999, ".", "..", "=", "é" * 40, " ", "\n"]),
        max_size=12,
    ).map("".join),
)


def decoded(body: EncodedBody) -> bytes:
    match body.encoding:
        case "7bit":
            return body.octets
        case "quoted-printable":
            return binascii.a2b_qp(body.octets)
        case _:
            return b64decode(body.octets)


def with_crlf(text: str) -> bytes:
    return re.sub("\r\n|\r|\n", "\r\n", text).encode()


@given(TEXTS)
@example("")
@example("x" * 998)
@example("x" * 999)
@example("é" * 500)
@example("trailing  \nspaces \t\né \n\t")
@example(".\n..\n.é\n.\n")
def test_decoding_gives_the_text_with_crlf_line_ends(text: str) -> None:
    encoded = encode_body(text)

    assert decoded(encoded) == with_crlf(text)
    lines = encoded.octets.split(b"\r\n")
    assert not any(b"\r" in line or b"\n" in line for line in lines)
    limit = 998 if encoded.encoding == "7bit" else 78
    assert max(map(len, lines)) <= limit
    assert encoded.octets.isascii()


@given(TEXTS, st.integers(1, 100))
@example("é" * 500, 75)
@example("x" * 76 + "é" * 40, 76)
def test_a_body_encoded_in_pieces_is_the_same_text(text: str, size: int) -> None:
    octets = text.replace("\r", "").encode()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(body, "PIECE_BYTES", size)
        quoted = body._quoted_printable(octets)

    assert binascii.a2b_qp(quoted) == octets.replace(b"\n", b"\r\n")
    lines = quoted.split(b"\r\n")
    assert max(map(len, lines)) <= 76
    assert not any(line.endswith((b" ", b"\t")) for line in lines)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("plain\n", "7bit"),
        ("", "7bit"),
        ("x" * 998 + "\n" + "y" * 998, "7bit"),
        ("x" * 999, "quoted-printable"),
        ("Grüße aus Köln, und noch etwas mehr Text\n", "quoted-printable"),
        ("日本語の本文です", "base64"),
        ("a\x0bb and some more words around it", "quoted-printable"),
        ("=" * 999, "base64"),
    ],
)
def test_the_shortest_encoding_that_carries_the_text_is_taken(text: str, encoding: str) -> None:
    assert encode_body(text).encoding == encoding


@given(st.text("é.a日\n", min_size=1, max_size=400), st.booleans())
@example("é" + "a" * 5, False)
def test_neither_encoding_would_have_been_shorter(text: str, long_lines: bool) -> None:
    given_text = text.replace("\n", "") * 9 if long_lines else text
    octets = with_crlf(given_text + "é")
    in_base64 = encodebytes(octets).replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    in_quoted_printable = quopri.encodestring(octets.replace(b"\r\n", b"\n")).replace(
        b"\n", b"\r\n"
    )

    body = encode_body(given_text + "é")

    assert len(body.octets) == min(len(in_base64), len(in_quoted_printable))


@given(st.binary(max_size=600), st.integers(1, 200))
@example(b"x" * 57, 57)
@example(b"x" * 58, 1)
def test_base64_made_in_pieces_is_the_same(octets: bytes, size: int) -> None:
    expected = encodebytes(octets).replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(body, "PIECE_BYTES", size)

        assert base64_lines(octets) == expected


def test_the_lines_of_a_large_file_are_not_joined_by_one_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One call keeps the event loop from turning while it runs, and while it frees its lines."""
    genuine, before, most = b2a_base64, sys.getallocatedblocks(), 0
    lines_of_a_piece = body.PIECE_BYTES // 57
    made = count(1)

    def counted(line: memoryview, *, newline: bool) -> bytes:
        nonlocal most
        # Each time visits every block of the process: twenty times a piece tell as much.
        if next(made) % (lines_of_a_piece // 20) == 0:
            most = max(most, sys.getallocatedblocks() - before)
        return genuine(line, newline=newline)

    monkeypatch.setattr(body, "b2a_base64", counted)
    base64_lines(bytes(20 * body.PIECE_BYTES))

    assert lines_of_a_piece / 2 < most < 2 * lines_of_a_piece


@given(TEXTS)
def test_quoted_printable_never_ends_a_line_in_white_space(text: str) -> None:
    body = encode_body(text + "é and a few letters that make quoted-printable the shorter one")

    if body.encoding == "quoted-printable":
        assert not re.search(rb"[ \t](\r\n|$)", body.octets)


def test_characters_no_mail_can_carry_are_refused_with_their_place() -> None:
    with pytest.raises(ValueError, match=r"^html contains the character NUL at position 2$"):
        check_body("html", "ab\0")
    with pytest.raises(ValueError, match=r"^text contains a lone surrogate at position 1"):
        check_body("text", "a\ud800")
