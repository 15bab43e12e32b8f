"""The warnings of a preview."""

import pytest

from mailqueue.rendering.compiled import TemplateSource
from mailqueue.rendering.preview import CLIPPED_BYTES, preview


def warnings(html: str, *, subject: str = "s", category: str = "transactional") -> list[str]:
    return list(preview(TemplateSource(subject, html), {"x": "<b>"}, category=category).warnings)


@pytest.mark.parametrize(
    ("html", "warned"),
    [
        ('<img src="https://a.example/x">', "an image has no alt text: https://a.example/x"),
        ('<img src="http://a.example/x" alt="">', "an image is loaded without https"),
        ('<a href="http://a.example/">x</a>', "a link has no https: http://a.example/"),
        ('<a href="javascript:x()">x</a>', "mail programs do not follow this link: javascript:x()"),
        ('<a href="#">x</a>', "a link has no target"),
        ("x<script></script>", "mail programs remove <script>"),
        ("{{ x | safe }}", "a variable is inserted as HTML, unescaped"),
        ("x" * CLIPPED_BYTES, "large providers cut an email off"),
        ("<p></p>", "the text body is empty"),
    ],
)
def test_what_looks_wrong_is_named(html: str, warned: str) -> None:
    assert any(one.startswith(warned) or warned in one for one in warnings(html))


def test_what_is_well_is_not_named() -> None:
    html = '<p>Hi</p><img src="https://a.example/x" alt="A"><a href="https://a.example/">x</a>'

    assert warnings(html) == []


def test_marketing_mail_names_a_way_out() -> None:
    out = '<a href="https://a.example/u">Unsubscribe</a>'

    assert any("unsubscribe" in one for one in warnings("<p>Buy</p>", category="marketing"))
    assert warnings(f"<p>Buy</p>{out}", category="marketing") == []


def test_subjects_that_are_empty_or_long_are_named() -> None:
    assert "the subject is empty" in warnings("<p>x</p>", subject="{{ x if false }}")
    assert any("70" in one for one in warnings("<p>x</p>", subject="s" * 71))
