"""Values in links, attributes, CSS and scripts of a template."""

from typing import Any

import pytest

from tests.rendering.contexts.rendered import html


@pytest.mark.parametrize(
    ("source", "value", "written"),
    [
        # Links: the scheme of a value, and where in the URL it stands.
        (
            '<a href="{{ v }}">',
            "https://example.com/a?b=c&d=e#f",
            '<a href="https://example.com/a?b=c&amp;d=e#f">',
        ),
        ('<a href="{{ v }}">', "javascript:alert(1)", '<a href="#blocked">'),
        ('<a href="{{ v }}">', " \x01JaVa\tScRiPt\n:alert(1)", '<a href="#blocked">'),
        ('<a href="{{ v }}">', "data:text/html;base64,PHNjcmlwdD4=", '<a href="#blocked">'),
        ('<a href="{{ v }}">', "vbscript:msgbox(1)", '<a href="#blocked">'),
        ('<a href="{{ v }}">', "shop://item/7", '<a href="#blocked">'),
        ('<a href="{{ v | safe }}">', "shop://item/7", '<a href="shop://item/7">'),
        ('<a href="shop://item/{{ v }}">', "7", '<a href="shop://item/7">'),
        ('<a href="{{ v }}">', "mailto:ann@example.com", '<a href="mailto:ann@example.com">'),
        ('<a href="{{ v }}">', "tel:+41 44", '<a href="tel:+41%2044">'),
        ('<a href="{{ v }}">', "/path (1)?q=ü", '<a href="/path%20(1)?q=ü">'),
        ('<a href="{{ v }}">', '"><b', '<a href="%22%3E%3Cb">'),
        ("<a href='{{ v }}'>", "a'b", "<a href='a&#39;b'>"),
        ('<a href="{{ v }}">', "100%/%2F", '<a href="100%25/%2F">'),
        ('<a href="{{ v | e }}">', "javascript:alert(1)", '<a href="#blocked">'),
        ('<a href="{{ v | e }}">', "/?a=1&b", '<a href="/?a=1&amp;b">'),
        ('<a href="{{ v }}">', "{{ unsubscribe_url }}", '<a href="{{ unsubscribe_url }}">'),
        ('<a href="{{ unsubscribe_url }}">', "", '<a href="{{ unsubscribe_url }}">'),
        (
            '<a href="https://example.com/?q={{ v }}">',
            "a&b=c d/ü",
            '<a href="https://example.com/?q=a%26b%3Dc%20d%2F%C3%BC">',
        ),
        (
            '<a href="https://example.com/?q={{ v | urlEncode }}">',
            "a&b c",
            '<a href="https://example.com/?q=a%26b%20c">',
        ),
        (
            '<a href="https://example.com/?{{ v }}">',
            "a=1&b=2",
            '<a href="https://example.com/?a=1&amp;b=2">',
        ),
        ('<a href="https://{{ v }}/x">', "example.com", '<a href="https://example.com/x">'),
        ('<a href="{{ v }}:alert(1)">', "javascript", '<a href="javascript#blocked:alert(1)">'),
        ('<a href="{{ v }}://example.com">', "https", '<a href="https://example.com">'),
        ('<a href="java{{ v }}">', "script:alert(1)", '<a href="java#blocked">'),
        ('<a href="{{ v }}{{ v }}">', "a", '<a href="aa">'),
        ("<a href=\"{% set a = v %}{{ a }}{{ 'script:x' }}\">", "java", '<a href="java#blocked">'),
        ('<a href="&#106;ava{{ v }}">', "script:alert(1)", '<a href="&#106;ava#blocked">'),
        (
            "<a href=\"javascript:go('{{ v }}')\">",
            "');alert(1);('",
            "<a href=\"javascript:go('alert1')\">",
        ),
        ('<img src="{{ v }}">', "cid:logo", '<img src="cid:logo">'),
        (
            '<img src="{{ v }}">',
            "data:image/png;base64,iVBORw0=",
            '<img src="data:image/png;base64,iVBORw0=">',
        ),
        ('<img src="{{ v }}">', "data:image/svg+xml,<svg/onload=alert(1)>", '<img src="#blocked">'),
        ('<img srcset="{{ v }}">', "a.png 1x, b.png 2x", '<img srcset="a.png 1x, b.png 2x">'),
        ('<img srcset="{{ v }}">', "a.png 1x, javascript:x 2x", '<img srcset="#blocked">'),
        ('<table background="{{ v }}">', "javascript:alert(1)", '<table background="#blocked">'),
        ('<form action="{{ v }}">', "javascript:alert(1)", '<form action="#blocked">'),
        ('<svg><a xlink:href="{{ v }}">', "javascript:alert(1)", '<svg><a xlink:href="#blocked">'),
        (
            "<a href={{ v }}>",
            "https://example.com/?a=b c",
            "<a href=https://example.com/?a&#61;b%20c>",
        ),
        # Attributes: quoted, unquoted, their names.
        ('<p title="{{ v }}">', 'a" onclick="x', '<p title="a&#34; onclick=&#34;x">'),
        ("<p title={{ v }}>", "a onclick=x", "<p title=a&#32;onclick&#61;x>"),
        ("<p title={{ v }} id=x>", "", '<p title="" id=x>'),
        ("<p title = {{ v }}>", "a`b\tc", "<p title = a&#96;b&#9;c>"),
        ("<p title=a{{ v }}>", ">", "<p title=a&gt;>"),
        ("<p {{ v }}>", "onclick=alert(1)", "<p blocked>"),
        ("<p {{ v }}>", "hidden", "<p hidden>"),
        ('<p {{ v }}="alert(1)">', "onclick", '<p blocked="alert(1)">'),
        ('<p on{{ v }}="alert(1)">', "click", '<p onblocked="alert(1)">'),
        ('<a {{ v }}="{{ w }}">', "href", '<a href="#blocked">'),
        ('<p data-{{ v }}="{{ w }}">', "x", '<p data-x="javascript:alert(1)">'),
        ("<h{{ v }}>", "2", "<h2>"),
        ("<{{ v }}>", "script", "<blocked>"),
        ("<{{ v }}>", "img src=x onerror=alert(1)", "<blocked>"),
        ("a <{{ v }}", "3", "a <3"),
        ('<p data-o="{{ v | tojson }}">', 'a"', '<p data-o="&#34;a\\&#34;&#34;">'),
        ('<iframe srcdoc="{{ v }}">', "<script>", '<iframe srcdoc="&amp;lt;script&amp;gt;">'),
        # CSS.
        ('<p style="color: {{ v }}">', "#0b6e4f", '<p style="color: #0b6e4f">'),
        ('<p style="color: {{ v }}">', "rgb(1, 2, 3)", '<p style="color: rgb(1, 2, 3)">'),
        ('<p style="width: {{ v }}px">', "12.5", '<p style="width: 12.5px">'),
        (
            '<p style="font: {{ v }}">',
            "bold 12px/1.5 'Open Sans', serif",
            '<p style="font: bold 12px/1.5 &#39;Open Sans&#39;, serif">',
        ),
        (
            '<p style="color: {{ v }}">',
            "red; background: url(//evil.example)",
            '<p style="color: blocked">',
        ),
        ('<p style="width: {{ v }}">', "expression(alert(1))", '<p style="width: blocked">'),
        ('<p style="width: {{ v }}">', "exp/**/ression(1)", '<p style="width: blocked">'),
        (
            '<p style="background: url({{ v }})">',
            "javascript:alert(1)",
            '<p style="background: url(#blocked)">',
        ),
        (
            '<p style="background: url({{ v }})">',
            "https://example.com/a(1).png",
            '<p style="background: url(https://example.com/a%281%29.png)">',
        ),
        (
            "<p style=\"background: url('{{ v }}')\">",
            "x'); a",
            "<p style=\"background: url('x%27%29%3B%20a')\">",
        ),
        (
            "<p style=\"font-family: '{{ v }}'\">",
            "a'; color: red",
            "<p style=\"font-family: 'a\\27 \\3b  color\\3a  red'\">",
        ),
        (
            "<style>p { color: {{ v }} }</style>",
            "red } * { display: none",
            "<style>p { color: blocked }</style>",
        ),
        (
            "<style>p { color: {{ v }} }</style>",
            "</style><script>",
            "<style>p { color: blocked }</style>",
        ),
        (
            "<style>@import '{{ v }}';</style>",
            "javascript:alert(1)",
            "<style>@import '#blocked';</style>",
        ),
        (
            "<style>p { color: {{ v }} }</style><p>{{ v }}</p>",
            "'",
            "<style>p { color: blocked }</style><p>&#39;</p>",
        ),
        # Scripts.
        (
            "<p onclick=\"f('{{ v }}')\">",
            "');alert(1)//",
            "<p onclick=\"f('\\u0027\\u0029\\u003balert\\u00281\\u0029\\u002f\\u002f')\">",
        ),
        ('<p onclick="f({{ v }})">', "alert(1)", '<p onclick="f(&#34;alert\\u00281\\u0029&#34;)">'),
        ('<p onclick="f({{ v }})">', 7, '<p onclick="f( 7 )">'),
        (
            "<script>x = {{ v }}</script>",
            "</script>",
            '<script>x = "\\u003c\\u002fscript\\u003e"</script>',
        ),
        (
            "<script>x = {{ v | tojson }}</script>",
            {"a": "</script>"},
            '<script>x = {"a": "\\u003c/script\\u003e"}</script>',
        ),
        ("<script>// {{ v }}\n</script>", "a\nb()", "<script>// a b  \n</script>"),
        # Text, and what only looks like something else.
        ("<title>{{ v }}</title>", "</title><b>", "<title>&lt;/title&gt;&lt;b&gt;</title>"),
        (
            '<!-- {{ v }} --><a href="{{ v }}">',
            "--><b>",
            '<!-- --&gt;&lt;b&gt; --><a href="--%3E%3Cb%3E">',
        ),
        (
            '<!--[if mso]><v:rect href="{{ v }}"><![endif]-->',
            "javascript:x",
            '<!--[if mso]><v:rect href="#blocked"><![endif]-->',
        ),
        (
            '<!--[if !mso]><!--><a href="{{ v }}"><!--<![endif]-->',
            "javascript:x",
            '<!--[if !mso]><!--><a href="#blocked"><!--<![endif]-->',
        ),
        ("a < b {{ v }}", "<", "a < b &lt;"),
    ],
)
def test_a_value_is_escaped_for_its_place(source: str, value: Any, written: str) -> None:
    assert html(source, v=value, w="javascript:alert(1)") == written
    # The same by Jinja, which the first form does not need.
    assert (
        html("{% if true %}" + source + "{% endif %}", v=value, w="javascript:alert(1)") == written
    )
