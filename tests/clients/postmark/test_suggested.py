"""The model that is suggested for texts takes time in proportion to their length."""

import pytest

from mailqueue.api.compat.postmark.suggested import suggested_model


def test_spaces_around_a_name_do_not_count() -> None:
    text = "{{ a }}{{{ b }}}{{# c }}{{ d }}{{/ c }}{{&e}}"
    names = {name: f"{name}_Value" for name in "abe"}

    assert suggested_model([text]) == {**names, "c": {"d": "d_Value"}}


@pytest.mark.parametrize(
    "text", ["{{" + " " * 200_000, "{{ " * 50_000, "{" * 200_000, "{{" + " " * 300 + "a}}"]
)
def test_what_is_not_closed_within_200_characters_is_no_name(text: str) -> None:
    assert suggested_model([text]) == {}
