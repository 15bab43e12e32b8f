"""The bytes of a message that its signature covers."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.dkim import canonical
from mailqueue.dkim.canonical import body_hash, relaxed_body, relaxed_headers


def test_the_example_of_the_standard() -> None:
    """RFC 6376 3.4.5."""
    head = b"A: X\r\nB : Y\t\r\n\tZ  "

    assert relaxed_headers(head) == {b"a": [b"X"], b"b": [b"Y Z"]}
    assert relaxed_body(b" C \r\nD \t E\r\n\r\n\r\n") == b" C\r\nD E\r\n"


@pytest.mark.parametrize(
    ("body", "canonical"),
    [
        (b"", b""),
        (b"\r\n", b""),
        (b"\r\n" * 5, b""),
        (b" \t\r\n \r\n", b""),
        (b"a", b"a\r\n"),
        (b"a \t", b"a\r\n"),
        (b"a\r\n", b"a\r\n"),
        (b"a\r\n\r\n \r\n", b"a\r\n"),
        (b"\r\na\r\n", b"\r\na\r\n"),
        (b"a  b   c\t\td", b"a b c d\r\n"),
        (b"\t a\r\n", b" a\r\n"),
        (b"a\nb \n", b"a\nb \n\r\n"),
        (b"a\r", b"a\r\r\n"),
        ("é  ü \r\n".encode(), "é ü\r\n".encode()),
    ],
)
def test_blanks_and_empty_lines_at_the_end_do_not_count(body: bytes, canonical: bytes) -> None:
    assert relaxed_body(body) == canonical


def test_the_hash_of_nothing_is_that_of_no_octets() -> None:
    """RFC 6376 3.4.4 gives it for an empty body."""
    expected = b"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    assert b64encode(body_hash(b"\r\n\r\n")) == expected


def test_headers_of_one_name_stay_in_order_and_apart() -> None:
    head = b"To: a\r\nSUBJECT:\r\nto:\tb\r\n c\r\nX: :\xc3\xa9: "

    assert relaxed_headers(head) == {
        b"to": [b"a", b"b c"],
        b"subject": [b""],
        b"x": [b":\xc3\xa9:"],
    }


LINES = st.lists(
    st.sampled_from([b"a", b" ", b"\t", b"\r\n", b"\n", b"\r", b"  b", b" \r\n", b"c \t"])
).map(b"".join)


@given(LINES, st.integers(0, 9))
def test_a_body_reduced_in_pieces_is_the_same(body: bytes, size: int) -> None:
    whole = relaxed_body(body)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(canonical, "PIECE_BYTES", size)
        assert relaxed_body(body) == whole


@pytest.mark.parametrize(
    "begin", [b"", b"x", b"\r", b"\n", b"\n\n", b"\r\r", b"\r\n\n", b" \r", b"\n\r"]
)
@pytest.mark.parametrize("pairs", [0, 1, 2, 5])
def test_pairs_of_cr_and_lf_at_the_end_are_left_out_and_nothing_else(
    begin: bytes, pairs: int
) -> None:
    body = begin + b"\r\n" * pairs
    kept = body.replace(b" \r\n", b"\r\n")
    while kept.endswith(b"\r\n"):
        kept = kept[:-2]

    assert relaxed_body(body) == (kept + b"\r\n" if kept else b"")
