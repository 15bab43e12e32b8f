"""The estimated number of values in a JSON text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.json.size import largest_field, most_values_in, values_in

TEXTS = st.text(st.sampled_from('ab"\\,[]{}:\n'), max_size=6)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=30,
)


@given(VALUES)
def test_the_number_is_that_of_commas_and_brackets_outside_of_texts(value: Any) -> None:
    text = json.dumps(value).encode()
    bare = json.dumps(_without_texts(value)).encode()
    expected = bare.count(b",") + bare.count(b"[") + bare.count(b"{")

    assert values_in(text, few=0, most=10**9) == expected
    assert values_in(text, few=0, most=0) <= max(expected, 1)
    assert most_values_in(text) >= expected


def _without_texts(value: Any) -> Any:
    match value:
        case str():
            return ""
        case list():
            return [_without_texts(one) for one in value]
        case dict():
            return {f"n{n}": _without_texts(one) for n, one in enumerate(value.values())}
    return value


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (b'{"a": 1, "tags": [1, 2, 3, 4, 5, 6], "b": 2}', "tags"),
        (b'{"custom_data": {"x": [[], [], [], []]}, "b": ",,,,,,,,"}', "custom_data"),
        (b'{"a": 1, "b": 2, "c": 3, "d": 4}', "body"),
        (b'[{"a": 1}, {"a": 2}]', "body"),
        (b'{"a\\"b": [1, 2, 3, 4]}', 'a\\"b'),
        (b"", "body"),
        (b'"', "body"),
        (b"]}]}", "body"),
    ],
)
def test_the_field_with_most_values_is_named(text: bytes, field: str) -> None:
    assert largest_field(text) == field
