"""Variables of Resend's templates become Jinja of a bounded size, which prints what they hold."""

from typing import Any

import pytest

from mailqueue.api.compat.handlebars.translation import MAX_TAGS
from mailqueue.api.compat.resend.template_model import jinja_of
from mailqueue.core.errors import InvalidField


class Counted(str):
    """A text that knows how often its lines were counted."""

    counts = 0

    def count(self, *given: Any) -> int:
        Counted.counts += 1
        return super().count(*given)


def schema(default: Any) -> dict[str, Any]:
    return {"properties": {"a": {"type": "string", "default": default}}}


def test_lines_are_counted_only_for_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counted, "counts", 0)
    assert jinja_of(Counted("{{{a}}}\n" * 3), None, field="html") == "{{ a }}\n" * 3
    assert Counted.counts == 0

    with pytest.raises(InvalidField, match="line 4: three braces"):
        jinja_of(Counted("{{{a}}}\n" * 3 + "{{{"), None, field="html")
    assert Counted.counts == 1


@pytest.mark.parametrize(
    ("text", "default", "why"),
    [
        ("{{{a}}}" * 300, "x" * 2_000, "characters in Jinja"),
        ("{{{a}}}" * 10_001, None, "line 1: a template has at most 10000 tags"),
    ],
)
def test_a_text_that_grows_too_large_is_refused(text: str, default: Any, why: str) -> None:
    with pytest.raises(InvalidField, match=why) as caught:
        jinja_of(text, schema(default), field="html")
    assert caught.value.field == "html"


def test_the_most_tags_are_translated() -> None:
    text = "{{{a}}}" * MAX_TAGS
    assert jinja_of(text, None, field="html") == "{{ a }}" * MAX_TAGS


@pytest.mark.parametrize("default", ['") }}{{ b', "\\", "{", "}", "100 %", ["x"], {"x": "y"}])
def test_a_fallback_of_a_schema_that_cannot_be_quoted_is_refused(default: Any) -> None:
    with pytest.raises(InvalidField, match="the fallback of 'a'") as caught:
        jinja_of("{{{a}}}", schema(default), field="html")
    assert caught.value.field == "variables"


@pytest.mark.parametrize(
    ("default", "printed"), [("you", '"you"'), (25, "25"), (2.5, "2.5"), (True, "True")]
)
def test_a_fallback_that_can_be_quoted_is_printed(default: Any, printed: str) -> None:
    translated = jinja_of("{{{a}}}", schema(default), field="html")
    assert translated == f"{{{{ a | default({printed}) }}}}"
