"""The work of reading HTML and escaping values is counted, and limited for each mail."""

import random
import re

import pytest

from mailqueue.rendering.compiled import Compiler, TemplateSource
from mailqueue.rendering.contexts import places
from mailqueue.rendering.contexts.places import Place
from mailqueue.rendering.faults import Exceeded
from mailqueue.rendering.meter import ESCAPING, Meter

LARGE = "{% set w = v ~ v %}{% set w = w ~ w %}{% set w = w ~ w %}"
LIGATURE = "\ufdfa"  # one character that compatibility forms write as 18
ROW = (
    '<tr><td style="padding:0 10px;color:{{ i.colour }}" width="100" align=center>'
    '<a href="https://example.com/{{ i.id }}?a=b&amp;c={{ i.id }}" title="{{ i.name }}">'
    "{{ i.name }}</a></td></tr>\n"
)
EXPENSIVE = {
    "a value in CSS": LARGE + '{% for i in range(12) %}<p style="{{ w }}">x</p>{% endfor %}',
    "links": "{% for i in range(3) %}{% for a in range(7600) %}"
    '<a href="x{{ a }}?é={{ a }}">x</a>{% endfor %}{% endfor %}',
    "a link": LARGE + '{% for i in range(12) %}<a href="{{ w }}">x</a>{% endfor %}',
    "a script": LARGE + "{% for i in range(12) %}<script>{{ w }}</script>{% endfor %}",
    "pictures": LARGE + '{% for i in range(12) %}<img srcset="{{ w }}">{% endfor %}',
    "a macro": '{% macro m(x) %}<p style="{{ x }}">{% endmacro %}'
    + LARGE
    + "{% for i in range(12) %}{{ m(w) }}{% endfor %}",
    "comments": "{{ c | safe }}",
    "attributes": "{{ a | safe }}",
    "constant attributes": "<p " + "a='b'c " * 70_000 + "title='{{ v }}'>",
}


@pytest.mark.parametrize("source", EXPENSIVE.values(), ids=EXPENSIVE)
def test_expensive_html_is_refused_by_its_count(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No clock is read: the same mail is refused on each machine."""
    monkeypatch.setattr("mailqueue.rendering.meter.CPU_SECONDS", 1e9)

    with pytest.raises(Exceeded, match="units of work"):
        Compiler().compiled(TemplateSource("s", source)).render(
            {
                "v": LIGATURE * 10_000,
                "a": "<p " + "a='b'c " * 70_000,
                "c": "<!---->" * 70_000,
            }
        )


def test_escapes_count_as_written_characters() -> None:
    compiled = Compiler().compiled(TemplateSource("s", "{{ v }}", "t"))

    assert compiled.render({"v": '"' * 400_000}).html == "&#34;" * 400_000
    with pytest.raises(Exceeded, match="it writes more than 2097152 characters"):
        compiled.render({"v": '"' * 500_000})


@pytest.mark.parametrize(
    "source",
    [
        "<style>td { color: red }</style><table>{% for i in items %}"
        + ROW
        + "{% endfor %}</table>",
        "{% macro row(i) %}" + ROW + "{% endmacro %}{% for i in items %}{{ row(i) }}{% endfor %}",
        "<p>{{ items[0].name }}</p>{{ whole | safe }}",
        "<p>{{ items[0].name }}</p>" + "<p style='margin: 0'>Lorem ipsum dolor</p>\n" * 11_000,
    ],
    ids=["loop", "macro", "one value", "constant"],
)
def test_a_newsletter_of_half_a_megabyte_takes_half_of_the_work(source: str) -> None:
    meter = Meter()
    items = [{"id": n, "name": "Coffee & more", "colour": "#333"} for n in range(1_500)]
    whole = '<p style="margin:0"><a href=https://example.com/>Lorem ipsum</a></p>\n' * 7_000
    compiled = Compiler(meter).compiled(TemplateSource("s", source))

    for _ in range(2):
        rendered = compiled.render({"items": items, "whole": whole})

        assert len(rendered.html or "") > 250_000
        assert ESCAPING - meter.escaping < ESCAPING // 2


TOKENS = (
    "<", ">", "/", "!", "-", "=", '"', "'", " ", "\n", "\t", "\x0b", "\x1c", "\xa0", "a", "B", "ſ",
    "K", "1", ":", "<p>", "</p>", "<a href=", "<script", "</script>", "<style>", "</style>", "on",
    "<title ", "<td width=1>", '<b title="x">', "<!--", "-->", "&amp;", "<TEXTAREA>", "style=",
    "<br/>", "<i a b=c d='e'>",
)  # fmt: skip


def test_usual_markup_is_read_as_all_other_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    """The short way for plain tags leads to the same place as reading them part by part."""
    chosen = random.Random(7)
    texts = ["".join(chosen.choices(TOKENS, k=chosen.randrange(1, 16))) for _ in range(20_000)]
    short = [Place().read(text) for text in texts]
    monkeypatch.setattr(places, "USUAL_MARKUP", re.compile(r"(?!)"))

    for text, found in zip(texts, short, strict=True):
        assert found == Place().read(text), text


def test_reading_is_charged_by_its_length() -> None:
    """However markup nests and breaks off, the units grow as its length does."""
    for text in ("<a b='", "<a/", "<p ", "<", "</", "<!--", "<style>'", "<a href='&", "<b></b>"):
        units = [_units(text * count) for count in (1_000, 2_000)]

        assert units[1] <= 2 * units[0] + 20


def _units(text: str) -> int:
    charged: list[int] = []
    Place().read(text, charged.append)
    return sum(charged)
