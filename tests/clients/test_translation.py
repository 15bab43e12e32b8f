"""Templates of Handlebars print in our language what they print there, or are refused."""

from typing import Any

import pytest

from mailqueue.api.compat.handlebars.translation import jinja_of
from mailqueue.core.errors import InvalidField
from mailqueue.rendering.compiled import Compiler, TemplateSource

ORDER = {"id": 81, "lines": [{"sku": "A", "items": 2}, {"sku": "B"}], "paid": True}
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("Hi {{name}}{{ user.name }}!", {}, "Hi !"),
    ("{{user.address.city}}", {"user": {"address": {"city": "Bonn"}}}, "Bonn"),
    ("{{user.address.city}}|{{user.name}}", {"user": None}, "|"),
    ("{{{name}}} {{&name}} {{name}}", {"name": "<b>"}, "<b> <b> &lt;b&gt;"),
    ("{{#each lines}}{{@index}}{{sku}}{{this.items}};{{/each}}", ORDER, "0A2;1B;"),
    ("{{#each lines}}{{sku}} of {{../id}} {{@root.id}};{{/each}}", ORDER, "A of 81 81;B of 81 81;"),
    ("{{#each xs}}{{this}}{{#if @last}}.{{else}},{{/if}}{{/each}}", {"xs": ["a", "b"]}, "a,b."),
    ("{{#each xs}}{{.}}{{else}}none{{id}}{{/each}}", {"id": 1}, "none1"),
    ("{{#each a}}{{#each b}}{{c}}{{../d}}{{../../e}};{{/each}}{{/each}}",
     {"a": [{"b": [{"c": 1}, {"c": 2}], "d": 3}], "e": 4}, "134;234;"),
    ("{{#each xs}}{{../item1}}{{this}}{{/each}}", {"xs": [1], "item1": "own"}, "own1"),
    ("{{#if a}}A{{else if b}}B{{else}}C{{/if}}", {"b": 1}, "B"),
    ("{{#if a}}A{{else}}C{{/if}}{{#unless a}}U{{/unless}}", {"a": 0}, "CU"),
    ("{{#with user}}{{name}}{{../id}}{{else}}no{{id}}{{/with}}", {"user": {"name": "N"}, "id": 1},
     "N1"),
    ("{{#with user}}{{name}}{{else}}no{{id}}{{/with}}", {"id": 1}, "no1"),
    ('{{#equals a "x"}}eq{{else}}ne{{/equals}}{{#notEquals a 2}}!{{/notEquals}}', {"a": "x"},
     "eq!"),
    ("{{#and a b}}both{{else}}not both{{/and}} {{#or a b}}one{{/or}}", {"a": 1}, "not both one"),
    ('{{insert name "default=Customer"}}', {}, "Customer"),
    ("a{{! hidden }}b{{!-- {{hidden}} --}}c", {}, "abc"),
    ("{{#each user}}{{this}};{{/each}}", {"user": {"values": "V", "b": 2}}, "V;2;"),
    ("{{#each a}}{{.}}{{else}}none{{/each}}", {"a": "text"}, "none"),
    ("{{#each a}}{{.}}{{else}}none{{/each}}", {"a": 5}, "none"),
    ("{{#each a}}{{.}}{{else}}none{{/each}}", {"a": False}, "none"),
    ("{{#if a.b.length}}{{a.b.length}}{{else}}none{{/if}}", {"a": {"b": [1, 2]}}, "2"),
    ("{{#if a.length}}some{{else}}none{{/if}}{{a.length}}", {"a": []}, "none0"),
    ("{{a.length}}|{{b.length}}|{{c.length}}", {"a": {"length": 4}, "b": "text", "d": 1}, "4|4|"),
    ("{{#each a}}{{length}}{{../b.length}};{{/each}}", {"a": [[1], {}], "b": [1]}, "11;1;"),
    ("{{#equals a null}}eq{{else}}ne{{/equals}}", {"a": None}, "eq"),
    ("{{#equals a ''}}eq{{else}}ne{{/equals}}", {"a": None}, "ne"),
    ("{{#each a}}{{unsubscribe}}{{/each}}", {"a": [{"unsubscribe": "x"}]}, "x"),
    ("{#id} {{a}}", {"a": 1}, "{#id} 1"),
    ("{{^a}}none{{/a}}", {}, "none"),
    ("{% if a %}{{ a | upper }}{% endif %}", {"a": "x"}, "X"),
]  # fmt: skip
REFUSED = [
    ("\n{{> footer}}", 'line 2: .*{% include "footer" %}'),
    ("{{#if a}}", r"{{#if}} is not closed"),
    ("{{#each a}}{{/if}}", r"{{/if}} closes no {{#if}}"),
    ("{{else}}", r"{{else}} has no block"),
    ("{{name", "{{ is not closed"),
    ("{{~name}}", "{{- … -}}"),
    ("{{first-name}}", "'first-name'"),
    ("{{loop}}", "'loop'"),
    ("{{../name}}", "leads out"),
    ("{{this}}", "name a variable"),
    ("{{#each a}}{{@key}}{{/each}}", "{% for item in items %}"),
    ("{{@index}}", "{% for item in items %}"),
    ("{{#each items as |item|}}{{/each}}", "{% for item in items %}"),
    ("{{#items}}{{/items}}", "{% for item in items %}"),
    ('{{formatDate at "MMM"}}', r"{{ at \| format_date\("),
    ("{{upper name}}", r"{{ name \| filter }}"),
    ('{{insert name "Customer"}}', r"{{ name \| default"),
    ('{{a.["b"]}}', "is not translated"),
    ("{{a.[b]}}", "is not a name"),
    ('{{"}}', r"filter|is not a name"),
    (r"\{{name}}", "{% raw %}{{name}}{% endraw %}"),
    ('<a href="{{{unsubscribe}}}">', "{{ unsubscribe_url }}"),
    ("{{{@root.unsubscribe_preferences}}}", "{{ preferences_url }}"),
    ('\n<a href="<%asm_group_unsubscribe_raw_url%>">', "line 2: .*{{ unsubscribe_url }}"),
    ("{{#if a}}" * 51, "deep"),
    ("{{a" + ".a" * 10 + "}}", "parts"),
    ("{{a}}" * 10_001, "at most 10000 tags"),
    ("{{" + "a" * 1_000 + "}}", "too long"),
]


def printed(source: str, variables: dict[str, Any]) -> str:
    rendered = Compiler().compiled(TemplateSource("s", source)).render(variables)
    assert rendered.html is not None
    return rendered.html


@pytest.mark.parametrize(("text", "variables", "expected"), CASES)
def test_a_translated_template_prints_the_same(
    text: str, variables: dict[str, Any], expected: str
) -> None:
    assert printed(jinja_of(text, field="html"), variables) == expected


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_is_not_translated_is_refused_with_what_to_write(text: str, why: str) -> None:
    with pytest.raises(InvalidField, match=why) as caught:
        jinja_of(text, field="html")
    assert caught.value.field == "html"


def test_a_translation_can_be_translated_again() -> None:
    for text, _, _ in CASES:
        once = jinja_of(text, field="html")
        assert jinja_of(once, field="html") == once


def test_a_translation_is_not_much_longer_than_a_template_may_be() -> None:
    path = ".".join(["a" * 95] * 10)
    inside = f"{{{{#with {path}}}}}" * 8 + "{{x}}" * 2_000
    for text in (inside, "{#" * 60_000 + "{{x}}", f"{{{{#with {path}}}}}" * 50):
        with pytest.raises(InvalidField, match=r"characters in Jinja|too deep"):
            jinja_of(text, field="html")


def test_sendgrids_own_names_are_variables_of_others() -> None:
    text = r"\{{unsubscribe}}<%asm_x%>"
    translated = jinja_of(text, field="html", has_sections=True)
    assert printed(translated, {"unsubscribe": 1}) == r"\1<%asm_x%>"


def test_a_section_is_mustachios_only_where_it_is_asked_for() -> None:
    text = "{{#user}}{{name}}{{../id}}{{/user}}{{^user}}none{{/user}}"
    translated = jinja_of(text, field="html", has_sections=True)

    assert printed(translated, {"user": {"name": "N"}, "id": 1}) == "N1"
    assert printed(translated, {"id": 1}) == "none"
