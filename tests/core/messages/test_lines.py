"""Line ends and lengths of lines are judged piece by piece as in one piece."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.messages import lines
from mailqueue.core.messages.lines import LineFault, bad_end, has_longer_line

PIECES = [b"\r\n", b"\r", b"\n", b"a", b"bb", b"", b"\r\n\r\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.integers(1, 7))
def test_a_bare_end_is_found_wherever_a_piece_begins(pieces: list[bytes], size: int) -> None:
    raw = b"".join(pieces)
    has_bare = re.search(rb"\r(?!\n)|(?<!\r)\n", raw) is not None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_PIECE_BYTES", size)
        found = bad_end(raw)

    assert found is (LineFault.BARE_END if has_bare else None)


def test_a_nul_is_found() -> None:
    assert bad_end(b"a\r\n\0\r\n") is LineFault.NUL


@given(st.lists(st.integers(0, 6), max_size=8), st.integers(1, 5), st.booleans())
def test_a_longer_line_is_found_among_any(sizes: list[int], most: int, is_ended: bool) -> None:
    raw = b"\r\n".join(b"x" * size for size in sizes) + b"\r\n" * is_ended

    assert has_longer_line(raw, most) is any(size > most for size in sizes)
