"""Spans between two marks are found in one pass."""

import re

import pytest

from mailqueue.rendering.dialect import as_jinja
from mailqueue.rendering.spans import spans_of
from mailqueue.rendering.styles import inlined

OPENING = re.compile(r"(?P<value>\{\{)|(?P<comment>\{#)")


class Closing:
    """A mark that counts how often it is searched for."""

    def __init__(self, mark: str) -> None:
        self._mark = re.compile(re.escape(mark))
        self.times = 0

    def search(self, text: str, at: int) -> re.Match[str] | None:
        self.times += 1
        return self._mark.search(text, at)


def test_places_come_in_order_and_none_is_within_another() -> None:
    closing = {"value": re.compile(r"\}\}"), "comment": re.compile(r"#\}")}
    text = "a{{ b }}{# {{ c #}{{ {# }}{{"

    found = [text[each.start : each.end] for each in spans_of(text, OPENING, closing)]

    assert found == ["{{ b }}", "{# {{ c #}", "{{ {# }}"]


def test_a_mark_that_is_missing_is_looked_for_once() -> None:
    """Isolate: a template of opening marks costs no more than others of its length."""
    closing = {"value": Closing("}}"), "comment": Closing("#}")}

    found = list(spans_of("{{" * 1000 + "{#" * 1000 + "#}", OPENING, closing))  # type: ignore[arg-type]

    assert len(found) == 1
    assert [one.times for one in closing.values()] == [1, 1]


@pytest.mark.parametrize("source", ["{{" * 5, "{#{{#}{{ .Name }}", "{% raw %}{{ .Name }}", "{{-}}"])
def test_what_is_not_closed_stays_as_it_is(source: str) -> None:
    assert as_jinja(source) == source.replace("{{ .Name }}", "{{ Name  }}")


def test_tags_within_raw_elements_and_within_tags_stand_where_they_stood() -> None:
    html = (
        "<html><head><title>{{ a }}</title></head>"
        '<body><p class="{{ b }}">{{ c }}</p></body></html>'
    )

    assert inlined(html) == html
