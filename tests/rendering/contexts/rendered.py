"""Rendered templates, as a parser of HTML reads them."""

from typing import Any

from turbohtml import parse

from mailqueue.rendering.compiled import Compiler, TemplateSource


def html(source: str, /, **variables: Any) -> str:
    """Render a template as HTML."""
    rendered = Compiler().compiled(TemplateSource("s", source)).render(variables)
    assert rendered.html is not None
    return rendered.html


def elements(source: str) -> list[tuple[str, dict[str, str]]]:
    """Return the elements of a document as a parser reads them, each with its attributes."""
    return [
        (one.tag, {name: str(value) for name, value in one.attrs.items()})
        for one in parse(source).select("*")
    ]
