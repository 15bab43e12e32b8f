"""Values in parts of a template that are captured, included or extended, and in scripts."""

import json

import pytest

from mailqueue.rendering.compiled import Compiler, TemplateSource
from mailqueue.rendering.preview import preview
from tests.rendering.contexts.rendered import elements, html

PAGE = '<a href="{% block to %}{% endblock %}">{% block name %}{% endblock %}</a>'
MACRO = "{% macro m(x) %}{{ x }}{% endmacro %}"
CAPTURED = {
    "macro": MACRO + '<a href="{{ m(v) }}">',
    "macro, trimmed": '{% macro m(x) %} {{ x }} {% endmacro %}<a href="{{ m(v) | trim }}">',
    "macro, upper": MACRO + '<a href="{{ m(v) | upper }}">',
    "macro, cut": MACRO + '<a href="{{ m(v)[:19] }}">',
    "macro, turned": MACRO + '<a href="{{ m(w)[::-1] }}">',
    "macro, reversed": MACRO + '<a href="{{ m(w) | reverse }}">',
    "macro, split": MACRO + "<a href=\"{{ m(v).split(',')[0] }}\">",
    "macro, truncated": MACRO + '<a href="{{ m(v) | truncate(18) }}">',
    "macro, joined": MACRO + '<a href="{{ m(v) ~ v }}">',
    "macro, added": MACRO + '<a href="{{ m(v) + v }}">',
    "list": '<a href="{{ [v, v] | join }}">',
    "list, escaped": '<a href="{{ [v | e, v] | join }}">',
    "set": '{% set x %}{{ v }}{% endset %}<a href="{{ x }}">',
    "call": '{% macro m() %}<a href="{{ caller() }}">{% endmacro %}'
    "{% call m() %}{{ v }}{% endcall %}",
    "filter": '<a href="{% filter upper %}{{ v }}{% endfilter %}">',
    "with": '{% with x = v %}<a href="{{ x }}">{% endwith %}',
    "loop": '{% for x in [v, "/a", v] %}<a href="{{ x }}">{% endfor %}',
    "choice": '<a {% if v %}href="{{ v }}"{% else %}title="{{ v }}"{% endif %}>',
    "halves": "<a href{% if v %}={% endif %}{{ v }}>",
}


@pytest.mark.parametrize("source", CAPTURED.values(), ids=CAPTURED)
def test_the_place_counts_where_a_captured_part_is_written(source: str) -> None:
    found = html(source, v="javascript:alert(1)", w=")1(trela:tpircsavaj")

    links = [attributes.get("href", "#blocked") for _, attributes in elements(found)]
    assert len(links) > 0
    assert [one for one in links if not one.lower().startswith(("#blocked", "/a"))] == []


def test_layouts_and_partials_are_places_too() -> None:
    parts = {"page": PAGE, "link": '<i title="{{ v }}">'}
    source = (
        '{% extends "page" %}{% block to %}{{ v }}{% endblock %}'
        '{% block name %}{% include "link" %}{{ v }}{% endblock %}'
    )
    compiled = Compiler().compiled(TemplateSource("s", source, parts=parts))

    found = compiled.render({"v": 'javascript:"'}).html

    assert found == '<a href="#blocked"><i title="javascript:&#34;">javascript:&#34;</a>'


def test_captured_parts_compare_and_count_as_without_values_marked() -> None:
    source = (
        "{% set x %}{{ v }}{% endset %}{{ x == 'a&b' }} {{ x | length }} {{ x | first }} {{ x }}"
        "{% if x in ['a'] %} in{% endif %}{% set n %}{{ none }}{% endset %}{{ 'no' if not n }}"
    )

    assert html(source, v="a", none=None) == "false 1 a a inno"
    assert html("{{ x ~ '<' }}{{ x | e | upper }}", x="é<") == "é&lt;&lt;É&lt;"


def test_structured_data_of_a_mail_is_read_as_it_was_given() -> None:
    source = '<script type="application/ld+json">{"name": "{{ v }}", "n": {{ n }}}</script>'
    for value in ('Ann "A" <x> & \\ \n\u2028 é 😀', "</script>"):
        found = html(source, v=value, n=3)

        inside = found.partition(">")[2].rpartition("</script>")[0]
        assert json.loads(inside) == {"name": value, "n": 3}


def test_a_preview_tells_that_a_link_was_replaced() -> None:
    found = preview(
        TemplateSource("s", '<a href="{{ v }}">x</a>'), {"v": "javascript:x"}, category="marketing"
    )

    assert "a value may not be this link, and #blocked stands for it" in found.warnings
