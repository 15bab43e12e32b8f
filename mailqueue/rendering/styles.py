"""Decides how the CSS of a template gets into its elements, its Jinja left as it is. Pure."""

import re

import css_inline

from mailqueue.rendering.faults import TemplateFault

_TAGS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_KEPT = re.compile(r"(?:<!--|&lt;!--)?jinja-(\d+)-kept(?:--&gt;|-->)?")
_BODIES = re.compile(r"</?tbody>", re.IGNORECASE)
_COMPOSED = re.compile(r"\{%-?\s*(?:extends|block)\b")
# Where a comment would be text, or part of a value: a bare word stands there for the tag.
_RAW = re.compile(r"<(style|script|title|textarea)\b", re.IGNORECASE)


def inlined(html: str) -> str:
    """Give the HTML of a template with the rules of its <style> in the elements they are for.

    A rule for what only a layout or partial contains does not reach it: only `html` is looked at.

    Raises:
        TemplateFault: it extends a layout, so it is no whole document by itself.
    """
    if _COMPOSED.search(html):
        raise TemplateFault("CSS is inlined only where no layout is extended", part="html")
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
        made = _BODIES.sub("", made)  # parsing adds them, around rows and not around their loops
    back = _KEPT.sub(lambda found: tags[int(found[1])], made)
    if sorted(_TAGS.findall(back)) != sorted(tags):
        why = "its CSS cannot be inlined: a tag stands where no text may"
        raise TemplateFault(why, part="html")
    return back


def _with_words(html: str, tags: list[str]) -> str:
    """Put a comment in each tag's place, or a word where a comment could not stand."""
    made = ""
    place = 0
    for found in _TAGS.finditer(html):
        made += html[place : found.start()]
        word = f"jinja-{len(tags)}-kept"
        made += word if _is_inside(made) else f"<!--{word}-->"
        tags.append(found[0])
        place = found.end()
    return made + html[place:]


def _is_inside(before: str) -> bool:
    """Say whether a place is within a tag, or an element whose content is plain text."""
    if before.rfind("<") > before.rfind(">"):
        return True
    opened = list(_RAW.finditer(before))
    if not opened:
        return False
    last = opened[-1]
    return f"</{last[1].lower()}" not in before[last.end() :].lower()
