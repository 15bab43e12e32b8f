"""Values by name as lines of a form: what is shown is read as the same values."""

from typing import Any

import pytest

from mailqueue.console.frame.named_lines import lines_of, values_of
from mailqueue.core.errors import InvalidField

VALUES: list[Any] = [
    *(
        "pro",
        "",
        " ",
        "1",
        "null",
        "true",
        '"',
        '"quoted"',
        "a = b",
        "two\nlines",
        "\r\n",
        "[",
        "é\u2028x",
    ),
    *(1, -0.5, True, False, [], {"a": [1, {"b": "c = d"}]}, "{}", "$.orderId", "x" * 10_000),
]
NAMES = ["plan", "a=b", " edge ", '"', "", "two\nlines", "<b>", "ü"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", NAMES)
def test_a_value_is_read_as_it_was_shown(name: str, value: object) -> None:
    text = lines_of({name: value, "other": 1})

    assert values_of(text, "attributes") == {name: value, "other": 1}
    assert values_of(text.replace("\n", "\r\n"), "attributes") == {name: value, "other": 1}


def test_a_value_that_is_as_before_is_the_same_value() -> None:
    before = {"large": 10**30 + 1, "plan": "pro", "gone": 1}
    found = values_of(lines_of(before).replace("pro", "free").replace("gone = 1", ""), "x", before)

    assert found == {"large": 10**30 + 1, "plan": "free"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = 1\n\nb", "line 3 must be"),
        ("= 1", "line 1 must be"),
        ('"a', "line 1 must be"),
        ('"a" 1', "line 1 must be"),
        ("a = 1\na = 2", "line 2: a stands twice"),
    ],
)
def test_a_line_that_is_none_is_named(text: str, why: str) -> None:
    with pytest.raises(InvalidField, match=why) as caught:
        values_of(text, "attributes")

    assert caught.value.field == "attributes"
