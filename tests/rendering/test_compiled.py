"""Rendering of templates, and what templates must not do."""

from typing import Any

import pytest

from mailqueue.rendering.compiled import Compiler, TemplateSource
from mailqueue.rendering.faults import Exceeded, TemplateFault

LONG = "a" * 60_000
WALL = "t" * 9_999
OFTEN = "{% for i in range(5000) %}"
CANARY = "canary-7f3a"


def html(source: str, /, **variables: Any) -> str:
    """Render a template as HTML."""
    rendered = Compiler().compiled(TemplateSource("s", source)).render(variables)
    assert rendered.html is not None
    return rendered.html


@pytest.mark.parametrize(
    ("source", "variables", "said"),
    [
        ("{{ name }}", {"name": "<A & B>"}, "&lt;A &amp; B&gt;"),
        ("{{.name}} {{ .a.b | upper }}", {"name": "x", "a": {"b": "y"}}, "x Y"),
        ("{{ n }} {{ f }} {{ t }} {{ z }}.", {"n": 3, "f": 1.5, "t": True, "z": None},
         "3 1.5 true ."),
        ("{% for i in l %}{{ loop.index }}{{ i.a }}{% endfor %}", {"l": [{"a": "x"}, {"a": "y"}]},
         "1x2y"),
        ("{% if o.items %}{{ o.items | length }}{% endif %}", {"o": {"items": [1, 2]}}, "2"),
        ("{{ x | default('none') }}{{ y | default(1) }}", {"y": None}, "none1"),
        ("{% set t = a + b * 2 %}{{ t }} {{ 'a' + 'b' }} {{ 7 // 2 }}", {"a": 1, "b": 2}, "5 ab 3"),
        ("{{ 'x' ~ n ~ '<' }}", {"n": 1}, "x1&lt;"),
        ("{{ l | join(', ') }} {{ l | first }} {{ l[1:] | join }}", {"l": ["a", "<"]},
         "a, &lt; a &lt;"),
        ("{% macro m(x) %}<b>{{ x }}</b>{% endmacro %}{{ m('<') }}", {}, "<b>&lt;</b>"),
        ("{% for k, v in o.items() %}{{ k }}={{ v }};{% endfor %}", {"o": {"a": 1}}, "a=1;"),
        ("{{ a | safe }}{{ a | safeHTML }}", {"a": "<i>"}, "<i><i>"),
        ("{{ d | format_date('%-d %B %Y') }}", {"d": "2030-05-01T08:00:00Z"}, "1 May 2030"),
        ("{{ d | formatDate('2006-01-02 15:04') }}", {"d": "2030-05-01T08:09:00"},
         "2030-05-01 08:09"),
        ("{{ d | formatDate('Jan 2, 2006') }}", {"d": 0}, "Jan 1, 1970"),
        ("{{ u | urlEncode }} {{ u | url_encode }}", {"u": "a b&/ü"},
         "a%20b%26%2F%C3%BC a%20b%26%2F%C3%BC"),
        ("{{ p | currency('USD') }} {{ p | currency('EUR') }}", {"p": 1234.5},
         "$1,234.50 €1,234.50"),
        ("{{ p | currency('JPY') }} {{ '-2.345' | currency('CHF') }}", {"p": 12}, "¥12 -2.35 CHF"),
        ("{{ t | truncate(5) }} {{ t | truncate(5, '.') }} {{ t | truncate }}", {"t": "abcdefgh"},
         "abcd… abcd. abcdefgh"),
        ("{{ t | toUpper }}{{ t | upper }}{{ t | toLower }}{{ t | lower }}", {"t": "aB"},
         "ABABabab"),
        ("{{ l | sum }} {{ o | sum('n') }} {{ l | max }}", {"l": [1, 2], "o": [{"n": 3}]}, "3 3 2"),
        ("{{ o | tojson }}", {"o": {"a": "</script>"}}, '{"a": "\\u003c/script\\u003e"}'),
        ("{% raw %}{{.a}}{% endraw %}{# {{.b}} #}", {}, "{{.a}}"),
        ("{% with v = 1 %}{{ v }}{% endwith %}{% filter upper %}x{% endfilter %}", {}, "1X"),
    ],
)  # fmt: skip
def test_what_is_written(source: str, variables: dict[str, Any], said: str) -> None:
    assert html(source, **variables) == said


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{{ name }}", "html: the variable name is missing"),
        ("a\n{% if 1 %}{{ name }}{% endif %}", "html, line 2: the variable name is missing"),
        ("{{ o.gone }}", "html: gone of an object is missing, in o.gone"),
        ("{% if o.gone == 1 %}{% endif %}", "html, line 1: gone of an object is missing"),
        ("{{ o }}", "html: an object cannot be printed: print its items"),
        ("{{ l | upper }}", "html, line 1: a list cannot be printed: print its items"),
        ("{{ 'x' | format_date }}",
         "html, line 1: a date is written like 2030-05-01 or 2030-05-01T08:00:00Z"),
        ("{{ 1 | format_date('%Q') }}", "html, line 1: %Q is not a date directive"),
        ("{{ 'x' | currency }}", "html, line 1: currency needs a number, got a text"),
        ("{{ 1 | currency('Euro') }}",
         "html, line 1: currency needs a code of three capital letters, such as EUR"),
        ("{% for i in 5 %}{% endfor %}", "html, line 1: a number cannot be looped over"),
        ("{{ 1 / 0 }}", "html, line 1: /: division by zero"),
        ("{% include 'x' %}", "html, line 1: there is no layout or partial x"),
        ("{% include o %}", "html, line 1: include needs a name in quotes"),
        ("{% autoescape false %}{% endautoescape %}",
         "html, line 1: ScopedEvalContextModifier is not allowed in a template"),
        ("{{ f(*l) }}", "html, line 1: arguments cannot be spread with *"),
    ],
)  # fmt: skip
def test_what_cannot_be_rendered_says_why(source: str, why: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        html(source, o={"a": 1}, l=[1])

    assert str(caught.value) == why


@pytest.mark.parametrize(
    ("source", "instead"),
    [
        ("{{if .A}}", "{% if A %} … {% endif %}"),
        ("{{ else if .A.B }}", "{% elif A.B %}"),
        ("{{else}}", "{% else %}"),
        ("{{- end -}}", "{% endif %} or {% endfor %}"),
        ("{{range .Items}}", "{% for item in Items %} … {% endfor %}"),
        ("{{range $i, $e := .Items}}", "{% for item in Items %} … {% endfor %}"),
        ('{{formatDate .At "2006-01-02"}}', '{{ At | formatDate("2006-01-02") }}'),
        ('{{ currency .Sum "USD" }}', '{{ Sum | currency("USD") }}'),
        ("{{urlEncode .To}}", "{{ To | urlEncode }}"),
        ("{{with .A}}", "{% with value = A %} … {% endwith %}"),
        ('{{template "x" .}}',
         '{% include "name" %}, or {% block name %} … {% endblock %} of a layout'),
        ("{{/* no */}}", "{# a comment #}"),
        ("{{ . }}", "the loop's variable, as in {% for item in items %}{{ item }}{% endfor %}"),
        ("{{ len .Items }}",
         "an expression of Jinja, like {{ items | length }} or {% if a == b %}"),
    ],
)  # fmt: skip
def test_other_forms_of_go_are_refused_with_what_to_write(source: str, instead: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        Compiler().compiled(TemplateSource("s", f"first\n{source}"))

    assert caught.value.line == 2
    assert caught.value.why == f"{source} is Go syntax: write {instead}"


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}",
        "{% for i in range(9999) %}{% for j in range(9999) if false %}{% endfor %}{% endfor %}",
        "{% for i in range(10 ** 9) %}{% endfor %}",
        "{% for i in range(9999) %}" + "t" * 9999 + "{% endfor %}",
        "{% set s = x %}" + "{% set s = s ~ s %}" * 40,
        "{% set s = x %}" + "{% set s = s + s %}" * 40,
        "{% set s = x %}" + "{% set s %}{{ s }}{{ s }}{% endset %}" * 40,
        "{% set l = [1] %}" + "{% set l = l + l %}" * 40,
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ l | tojson }}",
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ l == [] }}",
        "{% set l = [1] %}" + "{% set l = {'a': l, 'b': l} %}" * 40,
        "{% set n = 10 %}" + "{% set n = n * n %}" * 40,
        "{{ 9 ** 9 ** 9 }}",
        "{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}{{ " + "m(" * 30 + "x" + ")" * 30 + " }}",
        "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(99) }}",
        "{% set n = namespace(v=x) %}{% for i in range(99) %}{% set n.v = n.v ~ n.v %}{% endfor %}",
        "{% block b %}{% for i in range(9999) %}{{ self.b() }}{% endfor %}{% endblock %}",
        "{% macro m() %}" + WALL + "{% endmacro %}" + OFTEN + "{% set y = m() %}{% endfor %}",
        "{% block b %}" + WALL + "{% endblock %}" + OFTEN + "{% set y = self.b() %}{% endfor %}",
        "{{ x | replace('a', x) }}",
        "{{ range(9999) | join(x) }}",
        "{{ x.split('a') | join(x) }}",
        "{% for i in range(9999) %}{{ x | upper | length }}{% endfor %}",
        "{% for i in range(9999) %}{{ x[1:] | length }}{% endfor %}",
        "{% for i in range(9999) %}{{ x in x }}{% endfor %}",
        "{% set l = range(9999) | list %}{% for i in l %}{{ i in l }}{% endfor %}",
        "{% for i in range(9999) %}{{ range(9999) | list | sort | length }}{% endfor %}",
        "{% include 'self' %}{% include 'self' %}",
    ],
)
def test_work_without_end_is_stopped_by_count(source: str) -> None:
    """The limits count steps and do not depend on the speed of the machine."""
    compiled = Compiler().compiled(
        TemplateSource(
            "s", source, parts={"self": "{% include 'more' %}" * 99, "more": "{{ x }}" * 99}
        )
    )

    with pytest.raises(Exceeded):
        compiled.render({"x": LONG})


@pytest.mark.parametrize(
    "source",
    [
        "{{ x.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ x | attr('__class__') }}",
        "{{ x['__class__'] }}",
        "{{ self.__init__.__globals__ }}",
        "{{ self._TemplateReference__context }}",
        "{{ range.__init__ }}",
        "{{ dict.mro() }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.environ }}",
        "{{ lipsum.__globals__ }}",
        "{{ '{0.__class__}'.format(x) }}",
        "{{ '%s' % x }}",
        "{{ x.format_map({}) }}",
        "{{ x.encode() }}",
        "{{ (1).real }}",
        "{{ [].append(1) }}",
        "{{ {}.update({}) }}",
        "{{ loop.__class__ }}",
        "{% for i in [1] %}{{ loop._iterable }}{% endfor %}",
        "{% for i in [1] %}{{ loop.__init__ }}{% endfor %}",
        "{% macro m() %}{% endmacro %}{{ m._environment }}",
        "{% macro m() %}{% endmacro %}{{ m.__globals__ }}",
        "{{ request }}",
        "{{ config }}",
        "{% import 'os' as os %}",
        "{{ [x] | map(attribute='__class__') | list | join }}",
        "{{ [x] | selectattr('__class__') | list | length }}",
        "{{ x | map('attr', '__class__') | join }}",
        "{{ environment.globals }}",
        "{{ joiner }}",
    ],
)
def test_nothing_but_variables_is_within_reach(source: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        Compiler().compiled(TemplateSource("s", source)).render({"x": CANARY})

    assert CANARY not in str(caught.value)


def test_layouts_and_partials_are_those_of_the_version() -> None:
    parts = {
        "base": "<body>{% block content %}nothing{% endblock %}{% include 'foot' %}</body>",
        "foot": "<i>{{.company}}</i>",
        "forms": "{% macro button(label) %}<a>{{ label }}</a>{% endmacro %}",
    }
    source = (
        "{% extends 'base' %}{% from 'forms' import button %}"
        "{% block content %}{{ super() }} {{ button('<go>') }}{% endblock %}"
    )
    compiled = Compiler().compiled(TemplateSource("s", source, parts=parts))

    assert compiled.render({"company": "A&B"}).html == (
        "<body>nothing <a>&lt;go&gt;</a><i>A&amp;B</i></body>"
    )


def test_the_subject_is_one_line_and_not_escaped() -> None:
    compiled = Compiler().compiled(TemplateSource("Order {{ n }}\tfor {{ name }} ", None, "x"))

    rendered = compiled.render({"n": "1\r\nBcc: b@example.com", "name": "<A>"})

    assert rendered == ("Order 1 Bcc: b@example.com for <A>", None, "x")


def test_a_missing_text_is_made_of_what_each_mail_says() -> None:
    source = (
        "<style>p {}</style><p style='display:none'>hidden</p><p>Dear {{ name }}</p>"
        "<a href='https://example.com/{{ id }}'>Look</a>"
    )

    rendered = Compiler().compiled(TemplateSource("s", source)).render({"name": "A & B", "id": 7})

    assert rendered.text == "Dear A & B\n\nLook[1]\n\n[1] https://example.com/7\n"


@pytest.mark.parametrize("part", ["subject", "html", "text"])
def test_sources_that_are_too_large_or_have_too_many_tags_are_not_read(part: str) -> None:
    base = {"subject": "s", "html": "h", "text": "t"}
    for source in ("x" * 600_000, "{{ a }}" * 6000):
        with pytest.raises(TemplateFault):
            Compiler().compiled(TemplateSource(**(base | {part: source})))  # type: ignore[arg-type]


def test_one_render_leaves_nothing_behind_for_the_next() -> None:
    compiler = Compiler()
    bomb = compiler.compiled(
        TemplateSource(
            "s", "{% for i in range(n) %}{% for j in range(n) %}{% endfor %}{% endfor %}"
        )
    )

    for _ in range(2):
        with pytest.raises(Exceeded):
            bomb.render({"n": 9999})
        assert bomb.render({"n": 3}).html == ""


def test_variables_that_only_fill_places_are_needed_and_said() -> None:
    compiler = Compiler()

    assert compiler.compiled(
        TemplateSource("{{ a }}", "{{ b.c }}{% if d %}{% endif %}", "{{ e.f }}")
    ).needs == ("a", "e")
