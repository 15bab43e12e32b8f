"""Character references of HTML with any number."""

import pytest

from mailqueue.core.entities import unescaped


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a &amp; b", "a & b"),
        ("&#65;&#x42;", "AB"),
        ("&#" + "0" * 17 + "65;", "A"),
        ("&#" + "9" * 5000 + ";x", "\ufffdx"),
        ("&#x" + "f" * 100_000, "\ufffd"),
        ("&#", "&#"),
    ],
)
def test_a_reference_is_read_and_none_is_too_long(text: str, read: str) -> None:
    assert unescaped(text) == read
