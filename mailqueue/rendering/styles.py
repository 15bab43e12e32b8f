"""Inline the CSS of a template into its elements, and keep its Jinja tags unchanged. Pure."""

import re
from collections.abc import Iterator

import css_inline

from mailqueue.rendering.faults import TemplateFault
from mailqueue.rendering.spans import Span, spans_of

_OPENING = re.compile(r"(?P<value>\{\{)|(?P<statement>\{%)|(?P<comment>\{#)")
_CLOSING = {
    "value": re.compile(r"\}\}"),
    "statement": re.compile(r"%\}"),
    "comment": re.compile(r"#\}"),
}
_KEPT = re.compile(r"(?:<!--|&lt;!--)?jinja-(\d+)-kept(?:--&gt;|-->)?")
_BODIES = re.compile(r"</?tbody>", re.IGNORECASE)
_COMPOSED = re.compile(r"\{%-?\s*(?:extends|block)\b")
# Where a comment would be text or part of a value, a word stands for the tag.
_RAW = re.compile(r"<(style|script|title|textarea)\b", re.IGNORECASE)


def inlined(html: str) -> str:
    """Return the HTML of a template with the rules of its <style> elements inlined.

    Elements of layouts and partials are not reached: only `html` is processed.

    Raises:
        TemplateFault: it extends a layout, so it is not a complete document.
    """
    if _COMPOSED.search(html):
        raise TemplateFault(
            "CSS cannot be inlined in a template that extends a layout", part="html"
        )
    tags: list[str] = []
    words = _with_words(html, tags)
    inliner = css_inline.CSSInliner(
        keep_style_tags=True, keep_at_rules=True, load_remote_stylesheets=False
    )
    try:
        made = inliner.inline(words)
    except css_inline.InlineError as exc:
        raise TemplateFault(f"its CSS cannot be inlined: {exc}", part="html") from None
    if not _BODIES.search(html):
        made = _BODIES.sub("", made)  # the parser adds them around rows, outside of the rows' loops
    back = _KEPT.sub(lambda found: tags[int(found[1])], made)
    if sorted(back[tag.start : tag.end] for tag in _tags_of(back)) != sorted(tags):
        why = "its CSS cannot be inlined: a tag is in a place where HTML allows no text"
        raise TemplateFault(why, part="html")
    return back


def _tags_of(text: str) -> Iterator[Span]:
    return spans_of(text, _OPENING, _CLOSING)


def _with_words(html: str, tags: list[str]) -> str:
    """Replace each tag by a comment, or by a word where a comment is not possible."""
    made: list[str] = []
    place, where = 0, _Where()
    for found in _tags_of(html):
        before = html[place : found.start]
        where.read(before)
        word = f"jinja-{len(tags)}-kept"
        made += (before, word if where.is_inside else f"<!--{word}-->")
        tags.append(html[found.start : found.end])
        place = found.end
    return "".join((*made, html[place:]))


class _Where:
    """The context of a position in HTML, after the pieces before it."""

    def __init__(self) -> None:
        self._is_in_tag = False
        self._closing = ""  # the open element whose content is plain text

    @property
    def is_inside(self) -> bool:
        """Return whether it is within a tag, or an element whose content is plain text."""
        return self._is_in_tag or bool(self._closing)

    def read(self, piece: str) -> None:
        """Advance past a piece."""
        opened, closed = piece.rfind("<"), piece.rfind(">")
        if opened != closed:
            self._is_in_tag = opened > closed
        # A name that a template tag continues is another name.
        found = [one for one in _RAW.finditer(piece) if one.end() < len(piece)]
        if found:
            self._closing = f"</{found[-1][1].lower()}"
            piece = piece[found[-1].end() :]
        if self._closing and self._closing in piece.lower():
            self._closing = ""
